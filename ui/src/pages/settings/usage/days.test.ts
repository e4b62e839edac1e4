import { expect, it } from 'vitest';
import { DAYS, daysUntil, money } from './days';

it('shows whole UTC days up to today', () => {
  const days = daysUntil(Date.parse('2026-03-01T23:59:00Z'), DAYS);
  expect(days).toHaveLength(DAYS);
  expect(days.at(-1)).toBe('2026-03-01');
  expect(days.at(-2)).toBe('2026-02-28');
  expect(days[0]).toBe('2026-01-31');
});

it('shows small amounts with more digits', () => {
  expect(money(0.0123)).toMatch(/0.0123/);
  expect(money(12.3)).toMatch(/12.30/);
});
