/** What looks like a file is one, and no registered name: where it is missing, that is said. */
export function looksLikeFile(reference: string): boolean {
  return /[\\/]/.test(reference) || /\.(ya?ml|json|md)$/i.test(reference);
}
