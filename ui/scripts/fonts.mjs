// The typefaces of the page, cut to the characters and weights that it uses. A Vite plugin: `$fonts/NAME.woff2` in a
// style sheet is one of the files; the document preloads the one that the first paint needs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import subset from 'subset-font';

const MODULES = new URL('../node_modules/', import.meta.url).pathname;
const CACHE = `${MODULES}.cache/fonts`;
const PACKAGES = ['@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono'];
const WEIGHTS = { min: 400, max: 600, default: 400 };

const range = (from, to) => String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, at) => from + at));
// English, German and the rest of western Europe, with the signs that the page writes itself.
const LATIN = `${range(0x20, 0x7e)}${range(0xa0, 0xff)}ıŒœŠšŸŽž\u2009\u200b\u202f–—‘’‚“”„†•…‰‹›⁄€™←↑→↓−`;
const MORE = `${range(0x100, 0x17f)}ȘșȚț`;
// Ligatures are left out of code: what is written as `!=` must be read as `!=`.
const CODE = { noLayoutClosure: true, keepFeatures: ['ccmp', 'mark', 'zero'] };
const TEXT = { keepFeatures: ['calt', 'case', 'ccmp', 'kern', 'mark', 'mkmk', 'tnum', 'zero'] };

const OFFLINE = readFileSync(new URL('../public/assets/offline.html', import.meta.url), 'utf8');

const FILES = {
  // All characters of the offline page, in a file whose name the service worker knows.
  offline: ['inter/files/inter-latin-wght-normal.woff2', [...new Set(OFFLINE)].sort().join(''), TEXT],
  sans: ['inter/files/inter-latin-wght-normal.woff2', LATIN, TEXT],
  'sans-more': ['inter/files/inter-latin-ext-wght-normal.woff2', MORE, TEXT],
  mono: ['jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2', LATIN, CODE],
  'mono-more': ['jetbrains-mono/files/jetbrains-mono-latin-ext-wght-normal.woff2', MORE, CODE],
};

/** Cuts the typefaces that are not in the cache yet. */
async function cut() {
  mkdirSync(CACHE, { recursive: true });
  const rules = readFileSync(new URL(import.meta.url));
  for (const [name, [path, characters, options]] of Object.entries(FILES)) {
    const source = readFileSync(`${MODULES}@fontsource-variable/${path}`);
    const key = createHash('sha256').update(source).update(characters).update(rules).digest('hex');
    const file = `${CACHE}/${name}.woff2`;
    const stamp = `${file}.stamp`;
    if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== key) {
      const text = { targetFormat: 'woff2', variationAxes: { wght: WEIGHTS }, ...options };
      writeFileSync(file, await subset(source, characters, text));
      writeFileSync(stamp, key);
    }
  }
}

export function fonts() {
  return {
    name: 'fonts',
    apply: 'build',
    config: () => ({ resolve: { alias: { $fonts: CACHE } } }),
    buildStart: cut,
    generateBundle() {
      const source = PACKAGES.map((name) => `${name}\n\n${readFileSync(`${MODULES}${name}/LICENSE`, 'utf8')}`).join(
        '\n\n',
      );
      this.emitFile({ type: 'asset', fileName: 'assets/font-licenses.txt', source });
      const offline = readFileSync(`${CACHE}/offline.woff2`);
      this.emitFile({ type: 'asset', fileName: 'assets/offline.woff2', source: offline });
    },
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const file = Object.keys(bundle ?? {}).find((name) => /\/sans-[\w-]{8}\.woff2$/.test(name));
        if (!file) return [];
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/${file}` };
        return [{ tag: 'link', attrs, injectTo: 'head' }];
      },
    },
  };
}
