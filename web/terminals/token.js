// The token comes with the first address and leaves it at once: an address is kept in histories and copied to others.

const NAME = "token";

export const token = takeToken();
/** For requests. */
export const bearing = { authorization: `Bearer ${encodeURIComponent(token)}` };
/** For WebSockets, which bear no header: names of protocols. */
export const protocols = ["pawl", `token.${toBase64Url(token)}`];

function takeToken() {
  const given = new URLSearchParams(location.search).get(NAME);
  if (given === null) return sessionStorage.getItem(NAME) ?? "";
  sessionStorage.setItem(NAME, given);
  history.replaceState(null, "", location.pathname);
  return given;
}

/** @param {string} text */
function toBase64Url(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
