// Formats a duration by its two largest units, in the current language.
import { regional } from '../../../parts/region';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const first = UNITS.findIndex(([, length]) => whole >= length);
  const at = first < 0 ? UNITS.length - 1 : first;
  let rest = whole;
  const parts = UNITS.map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return { unit, count };
  }).slice(at, at + 2);
  return parts
    .filter(({ count }, index) => index === 0 || count > 0)
    .map(({ unit, count }) =>
      new Intl.NumberFormat(regional(), { style: 'unit', unit, unitDisplay: 'long' }).format(count),
    )
    .join(' ');
}
