/** What `read` gives. For questions whose failure is an answer: where it throws, `otherwise`. */
export function orElse<Found, Otherwise>(read: () => Found, otherwise: Otherwise): Found | Otherwise {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
