import { expect, test } from 'vitest';
import { report, sizes } from './sizes.mjs';

const MANIFEST = {
  'index.html': { file: 'index.js', imports: ['_core.js'], css: ['core.css'], dynamicImports: ['x.ts'] },
  '_core.js': { file: 'core.js' },
  '_frame.js': { file: 'frame.js', imports: ['_core.js'], css: ['frame.css'] },
  'x.ts': { file: 'later.js' },
  'src/pages/login/Login.svelte': { file: 'Login.js', imports: ['_core.js'], css: ['Login.css'] },
  'src/shell/Inside.svelte': { file: 'Inside.js', imports: ['_frame.js', 'index.html'] },
  'src/pages/overview/Overview.svelte': { file: 'Overview.js', imports: ['_frame.js'] },
  'src/pages/chat/Chat.svelte': { file: 'Chat.js', imports: ['_frame.js'], dynamicImports: ['x.ts'] },
  'src/pages/deliveries/Deliveries.svelte': { file: 'Deliveries.js', css: ['Deliveries.css'] },
};
const FILES = ['index.html', 'sans.woff2', 'mono.woff2', 'later.js'];
const WEIGHTS = { 'index.html': 1, 'index.js': 2, 'core.js': 4, 'core.css': 8, 'Login.js': 16, 'Login.css': 32 };
const sizesWith = (weights) =>
  sizes(MANIFEST, FILES, (name) => ({ ...WEIGHTS, 'sans.woff2': 7, 'mono.woff2': 5, ...weights })[name] ?? 64);

test('each file counts once, and what loads later does not count', () => {
  const bytes = Object.fromEntries(sizesWith({ 'later.js': 1e9 }).map(({ name, bytes }) => [name, bytes]));
  const shell = 1 + 2 + 4 + 8 + 3 * 64;
  expect(bytes).toEqual({
    'JavaScript of the login': 2 + 4 + 16,
    'document, styles and JavaScript of /overview': shell + 64,
    'document, styles and JavaScript of /chat': shell + 64,
    'document, styles and JavaScript of /deliveries': shell + 2 * 64,
    fonts: 12,
  });
});

test.each([
  ['JavaScript of the login', { 'Login.js': 40 * 1024 - 6 }, 40],
  ['document, styles and JavaScript of /chat', { 'Chat.js': 120 * 1024 - 207 }, 120],
  ['fonts', { 'sans.woff2': 80 * 1024 - 5 }, 80],
])('%s: the limit is allowed, one byte more ends the build', (name, weights, most) => {
  expect(report(sizesWith(weights))).toMatchObject({ isOver: false });
  const [[file, bytes]] = Object.entries(weights);
  const { lines, isOver } = report(sizesWith({ [file]: bytes + 1 }));
  expect(isOver).toBe(true);
  expect(lines.filter((line) => line.includes('too many'))).toEqual([
    `${name}: ${most}.0 of ${most}.0 KiB: 1 bytes too many`,
  ]);
});

test('a login page that was moved ends the build', () => {
  const { 'src/pages/login/Login.svelte': _, ...rest } = MANIFEST;
  expect(() => sizes(rest, FILES, () => 0)).toThrow('no src/pages/login/Login.svelte');
});
