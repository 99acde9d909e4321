/** A fake server that gives, renews and ends logins as the contract says, and the file that the command line keeps of them. */
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { CliResult } from "../daemon/cliOutput.ts";
import { type Asked, FreshellFake, send } from "./freshellFake.ts";

export const BOOTSTRAP = "the-server's-token-0123456789";
/** Commands have the login's token alone. */
export const NO_TOKEN = {};
export const HOUR_MS = 3_600_000;

export class LoginServer implements AsyncDisposable {
  readonly fake: FreshellFake;
  /** What holds now. */
  tokens = { device: "", refresh: "", count: 0 };
  /** Of the tokens it gives from now on. */
  lifeMs = HOUR_MS;

  private constructor(fake: FreshellFake) {
    this.fake = fake;
    fake.answer = this.serve;
  }

  static async start(): Promise<LoginServer> {
    return new LoginServer(await FreshellFake.start());
  }

  get file(): string {
    return join(this.fake.home, ".freshell", "cli-auth.json");
  }

  saved(): Record<string, unknown> {
    return JSON.parse(readFileSync(this.file, "utf8")) as Record<string, unknown>;
  }

  login(): Promise<CliResult> {
    return this.fake.run(["auth", "login"], { AUTH_TOKEN: BOOTSTRAP });
  }

  pair(): object {
    this.tokens.count += 1;
    this.tokens.device = `device-${this.tokens.count}`;
    this.tokens.refresh = `refresh-${this.tokens.count}`;
    const { device: deviceToken, refresh: refreshToken } = this.tokens;
    return { deviceToken, refreshToken, expiresAt: Date.now() + this.lifeMs, deviceId: "d1", scopes: ["layout:d1"] };
  }

  readonly serve = ({ method, path, token, body }: Asked, response: ServerResponse): void => {
    const refuse = (): void => send(response, 401, { error: { code: "UNAUTHORIZED", message: "no" } });
    if (path === "/api/device-sessions") {
      if (token === BOOTSTRAP) send(response, 200, this.pair());
      else refuse();
    } else if (path === "/api/device-sessions/refresh") {
      if ((body as { refreshToken: string }).refreshToken === this.tokens.refresh) send(response, 200, this.pair());
      else refuse();
    } else if (path === "/api/health") {
      send(response, 200, { app: "freshell", ok: true, version: "1.0.0", ready: false });
    } else if (token !== this.tokens.device) refuse();
    else if (method === "DELETE") {
      this.tokens.refresh = "";
      send(response, 200, { ok: true });
    } else send(response, 200, path === "/api/terminals" ? [] : {});
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fake[Symbol.asyncDispose]();
  }
}
