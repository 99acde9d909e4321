/** A `fetch` whose streams are cut after a random number of bytes, in the middle of events too. */
import { below, type Random } from "./nativeScreens.ts";

interface CuttingFetch {
  readonly fetch: typeof fetch;
  cuts: number;
  /** From now on nothing is cut. */
  stop(): void;
}

export function cuttingFetch(random: Random, maxBytes: number): CuttingFetch {
  let cutting = true;
  const state: CuttingFetch = {
    cuts: 0,
    stop: () => {
      cutting = false;
    },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true || !cutting) return response;
      let left = below(random, maxBytes);
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          if (!cutting) {
            controller.enqueue(chunk);
            return;
          }
          if (chunk.length < left) {
            left -= chunk.length;
            controller.enqueue(chunk);
            return;
          }
          controller.enqueue(chunk.subarray(0, left));
          state.cuts += 1;
          controller.error(new Error("cut by the test"));
        },
      });
      return new Response(response.body!.pipeThrough(cut), { status: response.status, headers: response.headers });
    },
  };
  return state;
}
