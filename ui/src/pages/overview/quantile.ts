/** The value below which the share `part` of the sorted `values` lies; null if there are none. */
export function quantile(values: readonly number[], part: number): number | null {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? null;
}
