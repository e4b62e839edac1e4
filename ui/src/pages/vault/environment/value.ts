// Values of variables that are not typed but generated or read from a file.

/** The gateway stores no longer values. */
export const MAX_VALUE_BYTES = 64 * 1024;

/** Returns 256 random bits in characters that need no escaping in a header, a URL or a shell. */
export function generatedValue(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

export type Read = { value: string } | { refused: 'large' | 'binary' };

/** Returns the value in a file without a final line break, which editors append to a one-line file. */
export function valueIn(bytes: Uint8Array): Read {
  if (bytes.length > MAX_VALUE_BYTES) return { refused: 'large' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { refused: 'binary' };
  }
  if (text.includes('\0')) return { refused: 'binary' };
  const [line = '', ...others] = text.split(/\r?\n/);
  return { value: others.length === 1 && others[0] === '' ? line : text };
}
