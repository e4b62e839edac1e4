/** A text without accents and in lower case, for searches. */
export const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Whether a text contains every word of `q`, whatever their accents and case. */
export function hasWords(text: string, q: string): boolean {
  const searched = folded(text);
  return folded(q)
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
