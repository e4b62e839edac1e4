// The expiry of API keys and devices.
import { DAY_MS } from '../../../parts/units';

export type Choice = '30' | '90' | '365' | 'date' | 'never';
/** The remaining time at which a credential is marked, and listed on the first page. */
const NEAR_MS = 14 * DAY_MS;

/**
 * Returns the selected expiry, or null for never. A date expires at the end of that day in local
 * time.
 */
export function endOf(choice: Choice, date: string, now_ms: number): string | null {
  if (choice === 'never') return null;
  if (choice !== 'date') return new Date(now_ms + Number(choice) * DAY_MS).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? null : end.toISOString();
}

export type Nearness = 'none' | 'far' | 'near' | 'over';

/** How close `at` is to now. */
export function nearness(at: string | null | undefined, now_ms: number): Nearness {
  if (!at) return 'none';
  const left = Date.parse(at) - now_ms;
  return left <= 0 ? 'over' : left <= NEAR_MS ? 'near' : 'far';
}

/** Splits typed text at lines, commas, semicolons or spaces. */
export const entries = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);
