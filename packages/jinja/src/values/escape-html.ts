const REPLACED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** As MarkupSafe writes it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => REPLACED[char] ?? char);
}
