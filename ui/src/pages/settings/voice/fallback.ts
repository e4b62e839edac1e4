// Changes of the ordered list of fallbacks.

/**
 * Returns the list with an entry moved by `by` places. If the entry or the new place does not
 * exist, the list is unchanged.
 */
export function moved(list: readonly string[], one: string, by: number): string[] {
  const to = list.indexOf(one) + by;
  if (!list.includes(one) || to < 0 || to >= list.length) return [...list];
  const next = list.filter((other) => other !== one);
  next.splice(to, 0, one);
  return next;
}
