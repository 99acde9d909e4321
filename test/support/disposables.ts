/** Things a test made, disposed of one after another, the last first. Node 20 has no `AsyncDisposableStack`. */
export class Disposables implements AsyncDisposable {
  readonly #all: (AsyncDisposable | Disposable)[] = [];

  use<One extends AsyncDisposable | Disposable>(one: One): One {
    this.#all.push(one);
    return one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#all.toReversed()) {
      if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
      else one[Symbol.dispose]();
    }
  }
}
