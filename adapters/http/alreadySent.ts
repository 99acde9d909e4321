/**
 * What a handler returns that writes its response itself. Once loaded, @hono/node-server makes `Response` a class that it
 * writes out of memory without a look at its headers, so that its own RESPONSE_ALREADY_SENT is written as a second response
 * if that module was loaded after it. A response whose body has been asked for is an ordinary one, in whatever order.
 */
export function alreadySent(): Response {
  const response = new Response(null, { headers: { "x-hono-already-sent": "true" } });
  if (response.body !== null) throw new Error("a response without a body has one");
  return response;
}
