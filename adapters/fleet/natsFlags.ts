/** The flags of the connection to NATS, for a daemon and for commands that read from it. */
import { type FlagSpec, pathFlag } from "../../daemon/ops/settings.ts";

export const NATS_FLAG: FlagSpec = {
  name: "nats",
  type: "text",
  value: "URLS",
  description:
    "publish to these NATS servers, such as nats://127.0.0.1:4222 or tls://nats.example.org; comma-separated",
  default: "TMUXWIRE_NATS, else none",
};

export const NATS_CREDENTIALS_FLAG = pathFlag(
  "nats-creds",
  "file with credentials for NATS, as `nsc` writes it",
  "TMUXWIRE_NATS_CREDS, else none",
);
