/**
 * Returned by a handler that writes its response itself. Once loaded, @hono/node-server replaces `Response` with a class
 * that it writes without reading its headers, so its own RESPONSE_ALREADY_SENT is written as a second response if that
 * module was loaded after it. A response whose body has been read is an ordinary one, whatever the load order.
 */
export function alreadySent(): Response {
  const response = new Response(null, { headers: { "x-hono-already-sent": "true" } });
  if (response.body !== null) throw new Error("a response without a body has one");
  return response;
}
