const MASK = "[redacted]";

/** Masking a shorter one would tear ordinary words apart. */
const MIN_SECRET_LENGTH = 6;

/**
 * Takes known secrets out of a text: as they stand, as they read inside JSON, and as they read inside a URL. Longer ones
 * go first, so that one that contains another leaves nothing behind.
 */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const ordered = toSecretSpellings(secrets);
  if (ordered.length === 0) return (text) => text;
  return (text) => {
    let masked = text;
    for (const spelling of ordered) if (masked.includes(spelling)) masked = masked.replaceAll(spelling, MASK);
    return masked;
  };
}

/** Every way in which a secret is recognised, the longest first. */
export function toSecretSpellings(secrets: readonly string[]): string[] {
  const spellings = new Set(secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH).flatMap(spellingsOf));
  return [...spellings].sort((a, b) => b.length - a.length);
}

function spellingsOf(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
}
