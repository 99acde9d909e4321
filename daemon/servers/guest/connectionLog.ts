/** What a connection logs: a repeated failure only once, until it has recovered. */
type WriteLog = (event: string, fields: object) => void;

export class ConnectionLog {
  readonly #write: WriteLog;
  #retryCode = "";

  constructor(write: WriteLog) {
    this.#write = write;
  }

  write(event: string, fields: object): void {
    if (event === "connection.retry") {
      const code = JSON.stringify("code" in fields ? fields.code : "");
      if (code === this.#retryCode) return;
      this.#retryCode = code;
    }
    this.#write(event, fields);
  }

  recovered(): void {
    this.#retryCode = "";
  }
}
