/**
 * Returned by a handler that writes its response itself. Once loaded, @hono/node-server replaces `Response` with a class
 * that it writes without reading its headers. Its own RESPONSE_ALREADY_SENT is therefore written as a second response if
 * it was made with the replaced class. A response whose body has been read is treated as sent, whatever the load order.
 */
export function alreadySent(): Response {
  const response = new Response(null, { headers: { "x-hono-already-sent": "true" } });
  if (response.body !== null) throw new Error("a response without a body has one");
  return response;
}
