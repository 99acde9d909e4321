/** Another site of this machine, to be shown in a page of ours or to show it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface OtherSite extends AsyncDisposable {
  /** Ends with a slash. */
  readonly url: string;
}

/** @param bodyOf what it shows, by path */
export async function siteOf(bodyOf: (path: string) => string): Promise<OtherSite> {
  const server = createServer(({ url = "/" }, response) => {
    response.setHeader("content-type", "text/html").end(bodyOf(url));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
