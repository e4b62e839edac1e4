// Reads a number as the user types it.
import { regional } from './region';

/** Whole numbers with separated thousands, by decimal separator. In India, only the last group has three digits. */
const GROUPED = {
  ',': /^[-+]?[1-9]\d{0,2}([\s'’.])(?:\d{2,3}\1)*\d{3}$/,
  '.': /^[-+]?[1-9]\d{0,2}([\s'’,])(?:\d{2,3}\1)*\d{3}$/,
} as const;

/**
 * Parses a number with the decimal separator of the user's region, comma or point. The opposite character also counts
 * as a decimal separator, unless it separates thousands. Spaces and apostrophes separate thousands too. Returns NaN if
 * the text is not a number. Callers must check for NaN, because JSON turns it into `null`, which resets a value.
 */
export function numberOf(text: string, locale = regional()): number {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5);
  const decimal = parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.';
  const typed = text.trim();
  const [whole = '', ...fraction] = typed.split(decimal);
  const plain = GROUPED[decimal].test(whole)
    ? [whole.replace(/[\s'’.,]/g, ''), ...fraction].join('.')
    : typed.replace(',', '.');
  return /^[-+]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : Number.NaN;
}

/** Formats a number for a field that `numberOf` reads. A German field reads “1.125” as a number above one thousand. */
export const numeralOf = (value: number, locale = regional()): string =>
  new Intl.NumberFormat(locale, { useGrouping: false, maximumFractionDigits: 20 }).format(value);
