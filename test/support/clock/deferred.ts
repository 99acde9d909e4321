/** `Promise.withResolvers`, which Node 20 does not have. */
export function deferred<Value = void>() {
  let settle: { readonly resolve: (value: Value) => void; readonly reject: (error: unknown) => void } | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle! };
}
