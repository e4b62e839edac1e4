// When an API key ends: the choices, and how near the end is.

export type Choice = '30' | '90' | '365' | 'date' | 'never';
const DAY_MS = 86_400_000;
/** From how long before its end a key is marked. */
const NEAR_MS = 14 * DAY_MS;

/** The end that was chosen, or null for never. A date ends with its day, where the person is. */
export function endOf(choice: Choice, date: string, now_ms: number): string | null {
  if (choice === 'never') return null;
  if (choice !== 'date') return new Date(now_ms + Number(choice) * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? null : end.toISOString();
}

export type Nearness = 'none' | 'far' | 'near' | 'over';

/** How near the end `at` is. */
export function nearness(at: string | null | undefined, now_ms: number): Nearness {
  if (!at) return 'none';
  const left = Date.parse(at) - now_ms;
  return left <= 0 ? 'over' : left <= NEAR_MS ? 'near' : 'far';
}

/** The entries of a list as typed: by lines, commas or spaces. */
export const entries = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);
