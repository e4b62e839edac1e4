// Changes of the ordered list of fallbacks.

/** Moves an entry `by` places; a list without the entry, or without that place, stays as it is. */
export function moved(list: readonly string[], one: string, by: number): string[] {
  const to = list.indexOf(one) + by;
  if (!list.includes(one) || to < 0 || to >= list.length) return [...list];
  const next = list.filter((other) => other !== one);
  next.splice(to, 0, one);
  return next;
}
