/** What becomes of a large order. */
export function review({ order }) {
  return { id: order.id, decision: order.total > 1500 ? "call the customer" : "ship" };
}
