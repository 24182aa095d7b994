/** Puts a text on the clipboard. Browsers have the new way only on pages of this machine or with TLS. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  // Beside what has the focus: a dialog takes the focus back from everything outside of it.
  (document.activeElement?.parentElement ?? document.body).append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
