/** A reference that looks like a file is never a registered name, so that a missing file is reported as such. */
export function looksLikeFile(reference: string): boolean {
  return /[\\/]/.test(reference) || /\.(ya?ml|json|md)$/i.test(reference) || isProgramFile(reference);
}

/** TypeScript or JavaScript, which exports workflows. */
export function isProgramFile(path: string): boolean {
  return /\.[mc]?[jt]s$/i.test(path);
}
