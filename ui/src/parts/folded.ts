/** Returns a text in lower case and without accents, for searches. */
export const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Whether a text contains every word of `q`. Accents and case are ignored. */
export function hasWords(text: string, q: string): boolean {
  const searched = folded(text);
  return folded(q)
    .split(/\s+/)
    .every((word) => searched.includes(word));
}
