/** What draws by itself in a place of the page, such as a terminal or an editor: loaded with the first one, and closed with its place. */
import type { MutableRef } from "preact/hooks";
import { useEffect, useRef } from "preact/hooks";

interface View {
  close(): void;
}

interface Viewed<Shown> {
  /** For the `ref` of the element that it draws in. */
  readonly place: MutableRef<HTMLDivElement | null>;
  /** Undefined until it is loaded. */
  readonly view: MutableRef<Shown | undefined>;
}

/**
 * @param load the view's module, by a dynamic import
 * @param onProblem its files cannot be loaded
 * @param inputs another one of these is another view
 */
export function useView<Made, Shown extends View>(
  load: () => Promise<Made>,
  make: (loaded: Made, place: HTMLElement) => Shown,
  onProblem: (words: string) => void,
  inputs: readonly unknown[],
): Viewed<Shown> {
  const place = useRef<HTMLDivElement | null>(null);
  const view = useRef<Shown | undefined>(undefined);
  useEffect(() => {
    let isClosed = false;
    const open = async (): Promise<void> => {
      try {
        const loaded = await load();
        if (!isClosed && place.current !== null) view.current = make(loaded, place.current);
      } catch {
        onProblem("the page's own files cannot be loaded: reload the page");
      }
    };
    void open();
    return () => {
      isClosed = true;
      view.current?.close();
      view.current = undefined;
    };
  }, inputs);
  return { place, view };
}
