/** docs/contracts/addin.md §2: a request for each rule and the message it is refused with, always as a 400. */
type Request = Readonly<Record<string, unknown>>;

const BAD_NAME = "Invalid session name. Use 1-64 chars: letters, numbers, ., _, :, -";
const BAD_PATTERN = "wait_for must be a valid regular expression.";

// `work` need not exist: every field is checked before the session is looked up.
const send: Request = { action: "send_keys", session: "work", text: "x" };
export const addinFieldRows: readonly [name: string, request: Request, error: string][] = [
  ["action: absent", {}, "Invalid action."],
  ["action: no string", { action: 7 }, "Invalid action."],
  ["action: unknown", { action: "run" }, "Invalid action."],
  ["action: of another case", { action: "LIST_SESSIONS" }, "Invalid action."],
  ...["-work", ".work", "wo rk", "wörk", "w/k", "a\nb", "x".repeat(65)].map((session): [string, Request, string] => [
    `session: ${JSON.stringify(session)}`,
    { ...send, session },
    BAD_NAME,
  ]),
  ["session: checked for list_sessions too", { action: "list_sessions", session: "-" }, BAD_NAME],
  ...["kill_session", "capture_pane", "send_keys", "send_and_capture"].flatMap((action) =>
    [undefined, "  ", 7, null].map((session): [string, Request, string] => [
      `session: ${JSON.stringify(session) ?? "absent"} for ${action}`,
      { action, session, text: "x" },
      `session is required for ${action}`,
    ]),
  ),
  ["keys: no array", { ...send, keys: "Enter" }, "keys must be an array of strings."],
  ["keys: null", { ...send, keys: null }, "keys must be an array of strings."],
  ["keys: not only strings", { ...send, keys: ["Enter", 1] }, "keys must contain only strings."],
  ...["a b", "Enter;", "-é", "x".repeat(49)].map((key): [string, Request, string] => [
    `keys: ${key}`,
    { ...send, keys: ["Up", key] },
    `Invalid key token: ${key}`,
  ]),
  ...["Entr", "F13", "C-Entr", "hello"].map((key): [string, Request, string] => [
    `A10 keys: ${key}, which tmux does not know`,
    { ...send, keys: [key] },
    `Invalid key token: ${key}`,
  ]),
  ["text: too long", { ...send, text: "x".repeat(8_001) }, "text is too long (max 8000 characters)."],
  [
    "text: half a surrogate pair",
    { ...send, text: "a\ud800b" },
    "text must be well-formed Unicode: it has half of a surrogate pair.",
  ],
  ...["200", null, 1.5, true].map((lines): [string, Request, string] => [
    `lines: ${JSON.stringify(lines)}`,
    { action: "list_sessions", lines },
    "lines must be an integer.",
  ]),
  ...[0, -1, 5_001].map((lines): [string, Request, string] => [
    `lines: ${lines}`,
    { action: "list_sessions", lines },
    "lines must be between 1 and 5000.",
  ]),
  ["timeout_ms: no integer", { ...send, timeout_ms: "1000" }, "timeout_ms must be an integer."],
  ["timeout_ms: too short", { ...send, timeout_ms: 99 }, "timeout_ms must be between 100 and 120000."],
  ["timeout_ms: too long", { ...send, timeout_ms: 120_001 }, "timeout_ms must be between 100 and 120000."],
  ["wait_ms: no integer", { ...send, wait_ms: null }, "wait_ms must be an integer."],
  ["wait_ms: too short", { ...send, wait_ms: -1 }, "wait_ms must be between 0 and 120000."],
  ["wait_ms: too long", { ...send, wait_ms: 120_001 }, "wait_ms must be between 0 and 120000."],
  ["wait_for: too long", { ...send, wait_for: "x".repeat(257) }, "wait_for is too long (max 256 characters)."],
  ["wait_for: no regular expression", { ...send, wait_for: "(" }, BAD_PATTERN],
  ["wait_for: checked for every action", { action: "list_sessions", wait_for: "[" }, BAD_PATTERN],
  ["cwd: relative", { action: "list_sessions", cwd: "tmp" }, "cwd must be an absolute path."],
  ["cwd: absent from the disk", { action: "create_session", cwd: "/no/such/dir" }, "cwd does not exist: /no/such/dir"],
  ["A11 cwd: named like a format", { action: "create_session", cwd: "/#(touch x)" }, "cwd does not exist: /#(touch x)"],
  [
    "A13 cwd: with a line end",
    { action: "create_session", cwd: "/tmp\nkill-server" },
    "cwd does not exist: /tmp\nkill-server",
  ],
  [
    "input: none",
    { action: "send_keys", session: "work" },
    "send_keys requires at least one of: text, keys, or enter=true.",
  ],
  [
    "input: only blanks",
    { action: "send_keys", session: "work", text: " \t", keys: [" "], enter: "yes" },
    "send_keys requires at least one of: text, keys, or enter=true.",
  ],
  [
    "input: none for send_and_capture",
    { action: "send_and_capture", session: "work", text: 7 },
    "send_and_capture requires at least one of: text, keys, or enter=true.",
  ],
  ["order: action before session", { action: "x", session: "-" }, "Invalid action."],
  ["order: session before cwd", { ...send, session: "-", cwd: "x" }, BAD_NAME],
  ["order: cwd on the disk before keys", { ...send, cwd: "/no/such/dir", keys: 7 }, "cwd does not exist: /no/such/dir"],
  [
    "order: keys that tmux does not know before lines",
    { ...send, keys: ["Entr"], lines: 0 },
    "Invalid key token: Entr",
  ],
  ["order: the pattern before timeout_ms", { ...send, wait_for: "(", timeout_ms: 0 }, BAD_PATTERN],
  [
    "order: wait_ms before what is required",
    { action: "send_keys", wait_ms: -1 },
    "wait_ms must be between 0 and 120000.",
  ],
];
