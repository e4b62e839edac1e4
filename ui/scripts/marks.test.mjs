import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pathOf } from './marks.mjs';

test('the path of a mark', () => {
  const file = new URL('../node_modules/simple-icons/icons/github.svg', import.meta.url);
  expect(pathOf(readFileSync(file, 'utf8'), 'github')).toMatch(/^M12 [\d.]+/);
});

test('a mark that is written otherwise ends the build', () => {
  expect(() => pathOf('<svg viewBox="0 0 24 24"><circle r="3"/></svg>', 'github.svg')).toThrow(
    'not written as expected',
  );
});
