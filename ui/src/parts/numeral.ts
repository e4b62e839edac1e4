// Reads a number as the user types it.
import { regional } from './region';

/**
 * Reads a number with the separators of the user's region; NaN if it is none. A point is also a decimal point where the
 * region has a comma, unless it separates thousands. Check for NaN: JSON has `null` in its place, which resets a value.
 */
export function numberOf(text: string, locale = regional()): number {
  const parts = new Intl.NumberFormat(locale).formatToParts(1234567.8);
  const mark = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  const [group, decimal] = [mark('group'), mark('decimal')];
  let plain = text.trim();
  const whole = (plain.split(decimal)[0] ?? '').replace(/^[-+]/, '').split(group);
  const [first = '', ...thousands] = whole;
  const isGrouped =
    /^[1-9]\d{0,2}$/.test(first) && thousands.length > 0 && thousands.every((one) => /^\d{3}$/.test(one));
  if (isGrouped) plain = plain.replaceAll(group, '');
  if (decimal !== '.' || !isGrouped) plain = plain.replace(',', '.');
  return /^[-+]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : Number.NaN;
}
