/**
 * A push service on loopback, with one browser that has subscribed: notes what comes, as that browser would read it. Takes
 * apart by itself what the daemon puts together with a library: RFC 8291 (the message), RFC 8188 (its encoding), RFC 8292
 * (who sends it).
 */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PushNotice } from "../../../protocol/api/native/nativeNotifications.ts";

interface Pushed {
  readonly notice: PushNotice;
  readonly headers: Readonly<Record<string, unknown>>;
  /** As it came, encrypted. */
  readonly bytes: number;
  /** Of the whole process's clock, in milliseconds. */
  readonly atMs: number;
}

interface Subscriber {
  readonly keys: { readonly p256dh: string; readonly auth: string };
  /** @throws Error if it was not encrypted for this browser */
  read(bytes: Uint8Array): PushNotice;
}

/** The keys that a browser makes for a subscription. */
export function subscriber(): Subscriber {
  const own = createECDH("prime256v1");
  const publicKey = own.generateKeys();
  const auth = randomBytes(16);
  return {
    keys: { p256dh: publicKey.toString("base64url"), auth: auth.toString("base64url") },
    read: (given) => {
      const bytes = Buffer.from(given);
      const [salt, keyLength] = [bytes.subarray(0, 16), bytes[20]!];
      const theirs = bytes.subarray(21, 21 + keyLength);
      const sealed = bytes.subarray(21 + keyLength);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), publicKey, theirs]);
      const secret = Buffer.from(hkdfSync("sha256", own.computeSecret(theirs), auth, info, 32));
      const key = (name: string, length: number): Buffer =>
        Buffer.from(hkdfSync("sha256", secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), length));
      const opening = createDecipheriv("aes-128-gcm", key("aes128gcm", 16), key("nonce", 12));
      opening.setAuthTag(sealed.subarray(-16));
      const padded = Buffer.concat([opening.update(sealed.subarray(0, -16)), opening.final()]);
      // The last record ends with a 2 and zeros.
      const end = padded.lastIndexOf(2);
      return JSON.parse(padded.subarray(0, end).toString()) as PushNotice;
    },
  };
}

/** Who signed a request: the claims. @throws Error if it was not signed with that key, or is of no use now */
export function signedBy(authorization: string, publicKey: string): { readonly aud: string; readonly sub: string } {
  const [, token = "", key] = /^vapid t=([^,]+), k=(\S+)$/.exec(authorization) ?? [];
  if (key !== publicKey) throw new Error(`signed with another key: ${authorization}`);
  const [header = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const verifier = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y! }, format: "jwk" });
  const signed = Buffer.from(`${header}.${claims}`);
  const how = { key: verifier, dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", signed, how, Buffer.from(signature, "base64url"))) throw new Error("the signature is wrong");
  const said = JSON.parse(Buffer.from(claims, "base64url").toString()) as { aud: string; sub: string; exp: number };
  const leftSec = said.exp - Date.now() / 1_000;
  if (leftSec <= 0 || leftSec > 86_400) throw new Error(`it is valid for ${leftSec} s`);
  return said;
}

interface PushReceiver extends AsyncDisposable, Pick<Subscriber, "keys"> {
  /** Of the subscription; as secret as a password. */
  readonly url: string;
  readonly origin: string;
  readonly received: readonly Pushed[];
  /** Of the next responses; the last one stays. */
  status: number;
}

/** @param publicKey the daemon's, once it is known */
export async function pushReceiver(publicKey: () => string): Promise<PushReceiver> {
  const browser = subscriber();
  const received: Pushed[] = [];
  const path = `/push/${randomBytes(8).toString("hex")}`;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      let status = request.url === path && request.method === "POST" ? receiver.status : 400;
      try {
        const { aud } = signedBy(request.headers.authorization ?? "", publicKey());
        if (aud !== receiver.origin) status = 403;
        const notice = browser.read(bytes);
        if (status === 201) received.push({ notice, headers: request.headers, bytes: bytes.length, atMs: Date.now() });
      } catch {
        status = 400;
      }
      response.writeHead(status, { connection: "close" }).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const receiver: PushReceiver = {
    url: `${origin}${path}`,
    origin,
    keys: browser.keys,
    received,
    status: 201,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return receiver;
}
