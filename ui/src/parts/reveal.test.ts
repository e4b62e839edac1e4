import { expect, test } from 'vitest';
import { hiddenSides } from './reveal';

const sides = (scrollLeft: number, scrollWidth: number) => hiddenSides({ scrollLeft, scrollWidth, clientWidth: 300 });

test('a box that shows all its content hides nothing', () => {
  expect(sides(0, 300)).toBe('');
  expect(sides(0, 301)).toBe('');
});

test('a box with more content names the sides to which it scrolls', () => {
  expect(sides(0, 302)).toBe('right');
  expect(sides(50, 400)).toBe('left right');
  expect(sides(100, 400)).toBe('left');
  expect(sides(99.4, 400)).toBe('left');
});
