/**
 * Web Push: a notification for one browser, encrypted for it alone (RFC 8291), and signed with a key of this daemon, so that
 * its push service takes it from nobody else (RFC 8292). The keys are made when the first browser asks for them, and kept in a
 * private file: with others, every browser would have to be added again.
 */
import * as v from "valibot";
import { readPrivate, replacePrivate, requireKnownContent } from "../../../daemon/ops/privateFiles.ts";
import { tryParse } from "../../../protocol/api/parse.ts";
import { AppError } from "../../../protocol/errors.ts";
import { parseJson } from "../../../protocol/text/jsonObject.ts";
import type { PushChannel } from "./channelBook.ts";
import type { HttpRequest } from "./notices.ts";

/** Higher numbers are of later versions. */
const VERSION = 1;
const MAX_BYTES = 4_096;
/** Whom a push service can ask about what it gets: RFC 8292 §2.1. It learns no address of the user. */
const CONTACT = "https://github.com/tmuxwire/tmuxwire";

const keysSchema = v.object({ version: v.literal(VERSION), publicKey: v.string(), privateKey: v.string() });
type Keys = v.InferOutput<typeof keysSchema>;

/** Loaded when it is needed: most daemons never are asked. */
const library = async () => (await import("web-push")).default;

export class WebPush {
  readonly #path: string;

  /** @param path of the keys' file */
  constructor(path: string) {
    this.#path = path;
  }

  /** What a browser subscribes with. @throws AppError CONFIGURATION_INVALID, INCONSISTENT_STATE */
  async publicKey(): Promise<string> {
    return (await this.#keys()).publicKey;
  }

  /** @param request with a body to be read by the page's service worker. @throws AppError as `publicKey` */
  async seal({ url, keys }: PushChannel, { method, headers, body }: HttpRequest): Promise<HttpRequest> {
    const { generateRequestDetails } = await library();
    const { publicKey, privateKey } = await this.#keys();
    const sealed = generateRequestDetails({ endpoint: url, keys }, JSON.stringify(body), {
      contentEncoding: "aes128gcm",
      vapidDetails: { subject: CONTACT, publicKey, privateKey },
    });
    return {
      method,
      url,
      headers: {
        ...headers,
        authorization: String(sealed.headers["Authorization"]),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
      },
      body: new Uint8Array(sealed.body),
    };
  }

  async #keys(): Promise<Keys> {
    const found = this.#read();
    if (found !== undefined) return found;
    const { generateVAPIDKeys } = await library();
    // Another request may have made them meanwhile.
    const kept = this.#read();
    if (kept !== undefined) return kept;
    const made: Keys = { version: VERSION, ...generateVAPIDKeys() };
    replacePrivate(this.#path, `${JSON.stringify(made, undefined, 2)}\n`);
    return made;
  }

  #read(): Keys | undefined {
    const found = readPrivate(this.#path, { maxBytes: MAX_BYTES });
    if (found === undefined) return undefined;
    const content = parseJson(found.text ?? "");
    requireKnownContent(this.#path, content, VERSION);
    const parsed = tryParse(keysSchema, content);
    if (parsed.success) return parsed.output;
    throw new AppError(
      "CONFIGURATION_INVALID",
      `${this.#path} holds no keys for Web Push; move it away, and press "Notify me" on the dashboard again in each browser`,
    );
  }
}
