/** A daemon in front of another one, which it reaches as the host `far` over a link that a test can cut. */
import { RemoteHosts } from "../../../adapters/remote/remoteHosts.ts";
import type { HostRecord } from "../../../adapters/remote/hostBook.ts";
import { type CutLink, cutLink } from "./cutLink.ts";
import type { Link } from "../../../adapters/remote/remoteHost.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { NativeAppOptions } from "../../../adapters/native/nativeApp.ts";
import { type NativeFixture, nativeFixture, noAgentless, noAgents, stubServer } from "./nativeServer.ts";

/** One machine, `build`, that is not there; none else is, either. */
export function deadHosts(): RemoteHosts {
  const message = "no route to host; run `ssh build true`";
  const link: Link = {
    state: { kind: "unreachable", sinceUnixMs: 1_795_149_767_000, message },
    connection: () => Promise.reject(new AppError("DAEMON_UNREACHABLE", message)),
    subscribe: () => () => undefined,
    check: async () => 0,
    retry: () => undefined,
    forget: async () => undefined,
    close: async () => undefined,
  };
  const hosts = [{ name: "build", destination: "me@build.example" }];
  return new RemoteHosts({
    servers: new Map(),
    hosts,
    link: () => link,
    agentless: noAgentless,
    save: () => undefined,
    clock: systemClock,
  });
}

interface NearFixture extends NativeFixture {
  readonly link: CutLink;
  readonly remote: RemoteHosts;
  readonly saved: readonly (readonly HostRecord[])[];
}

/** With a server of its own, which is called `main` as well. */
export async function nearFixture(farPort: number, options: Partial<NativeAppOptions> = {}): Promise<NearFixture> {
  const link = await cutLink(farPort);
  const saved: (readonly HostRecord[])[] = [];
  const own = stubServer();
  const remote = new RemoteHosts({
    servers: new Map([["main", own]]),
    hosts: [{ name: "far", destination: "far.example" }],
    link: () => link,
    agentless: noAgentless,
    save: (hosts) => saved.push(hosts),
    clock: systemClock,
  });
  const near = await nativeFixture(own, { remote, agents: noAgents, ...options });
  return {
    ...near,
    link,
    remote,
    saved,
    [Symbol.asyncDispose]: async () => {
      await near[Symbol.asyncDispose]();
      await remote.close();
      await own.close();
    },
  };
}
