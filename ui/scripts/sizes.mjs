// Fails the build if the page is larger than its limits: the JavaScript of the login, the first pages after the login
// and the fonts. Counts what a browser loads before it shows them according to Vite's manifest, compressed with brotli.
// Runs before `ahead.mjs`, which deletes the manifest. `bench/ui` measures the same in a browser.
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { ENTRY, filesOf, FRAME, PAGES } from './ahead.mjs';

const DIST = new URL('../dist/', import.meta.url).pathname;
const LOGIN = 'src/pages/login/Login.svelte';
const FIRST = ['overview', 'chat', 'deliveries'];
const KIB = 1024;

const isScript = (file) => file.endsWith('.js');
const isFont = (file) => file.endsWith('.woff2');

/**
 * Name, bytes and maximum of each limit. `files` are the names of all files of dist, and `bytesOf` returns what one of
 * them weighs when it is sent.
 */
export function sizes(manifest, files, bytesOf) {
  const sum = (names) => [...names].reduce((total, name) => total + bytesOf(name), 0);
  const login = [...filesOf(manifest, [ENTRY, LOGIN])].filter(isScript);
  return [
    { name: 'JavaScript of the login', bytes: sum(login), most: 40 * KIB },
    ...FIRST.map((page) => ({
      name: `document, styles and JavaScript of /${page}`,
      bytes: sum([ENTRY, ...filesOf(manifest, [ENTRY, FRAME, PAGES[page]])]),
      most: 120 * KIB,
    })),
    { name: 'fonts', bytes: sum(files.filter(isFont)), most: 80 * KIB },
  ];
}

const kib = (bytes) => (bytes / KIB).toFixed(1);

/** A line for each size, and whether one is over its limit. */
export function report(all) {
  const lines = all.map(({ name, bytes, most }) => {
    const over = bytes > most ? `: ${bytes - most} bytes too many` : '';
    return `${name}: ${kib(bytes)} of ${kib(most)} KiB${over}`;
  });
  return { lines, isOver: all.some(({ bytes, most }) => bytes > most) };
}

function check() {
  const manifest = JSON.parse(readFileSync(`${DIST}manifest.tmp.json`, 'utf8'));
  const files = readdirSync(DIST, { recursive: true });
  // Fonts are compressed by their own format.
  const bytesOf = (name) => {
    const plain = readFileSync(`${DIST}${name}`);
    return isFont(name) ? plain.length : brotliCompressSync(plain).length;
  };
  const { lines, isOver } = report(sizes(manifest, files, bytesOf));
  if (!isOver) return console.log(lines.join('\n'));
  console.error(['the page is too large', ...lines, 'see the groups in vite.config.ts'].join('\n'));
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) check();
