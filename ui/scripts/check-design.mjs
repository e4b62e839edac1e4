// Fails if a component uses a color, font size, weight or duration that is not a token of src/design/tokens.css, if it uses
// a token that does not exist, if the design page lacks a component, or if a file that cannot use tokens has other colors
// than they have.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = new URL('../', import.meta.url).pathname;
/** Values that each component has to take from a token. */
const OWN = [
  [/#[0-9a-f]{3,8}\b(?=[^{]*;)(?! \d)/gi, 'color'],
  [/\b(?:rgba?|hsla?|oklch|light-dark)\([^;]*/g, 'color'],
  [/\bfont-size:\s*[\d.]+[^;]*/g, 'font size'],
  [/\bfont-weight:\s*\d+/g, 'font weight'],
  [/\b(?:transition|animation)[\w-]*:[^;]*\b[\d.]+m?s\b[^;]*/g, 'duration'],
];
/** Components that decide when others are shown, and draw nothing. */
const NOT_DRAWN = new Set(['AfterPaint', 'DocumentTitle', 'Later', 'OnDemand']);
/** The page of all components, and the folders of what it shows. */
const DESIGN = 'src/design/page/';
const SHOWN = /^src\/(parts|design)\/(?!page\/)/;
/** Files outside the bundle, whose colors must be colors of the tokens. */
const STATIC = [
  'index.html',
  'public/manifest.json',
  'public/assets/offline.css',
  'public/assets/offline.html',
  'public/icons/icon.svg',
  'public/favicon.svg',
];

const styleOf = (source) => /<style>([^]*)<\/style>/.exec(source)?.[1] ?? '';

/** Values of a style sheet that should be tokens, and tokens that do not exist. */
export function faultsOfStyle(style, tokens) {
  const own = OWN.flatMap(([pattern, what]) =>
    [...style.matchAll(pattern)]
      .filter(([text]) => !text.includes('#000'))
      .map(([text]) => `has a ${what} of its own: ${text.trim()}`),
  );
  const local = new Set([...style.matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name));
  const unknown = [...style.matchAll(/var\((--[\w-]+)\)/g)]
    .map(([, name]) => name)
    .filter((name) => !tokens.has(name) && !local.has(name));
  return [...own, ...unknown.map((name) => `uses ${name}, which is no token`)];
}

/** Colors of a file that the tokens do not have. */
export function faultsOfCopy(text, colors) {
  const used = [...text.matchAll(/#[0-9a-f]{6}\b/gi)].map(([color]) => color.toLowerCase());
  return [...new Set(used)]
    .filter((color) => !colors.has(color))
    .map((color) => `has ${color}, which is no token's color`);
}

/** Components of `names` that the source of the design page does not show. */
export const faultsOfDesign = (names, source) =>
  names
    .filter((name) => !NOT_DRAWN.has(name) && !new RegExp(`<${name}\\b`).test(source))
    .map((name) => `${name} is not on the design page`);

function check() {
  const read = (path) => readFileSync(join(ROOT, path), 'utf8');
  const sheet = read('src/design/tokens.css');
  const tokens = new Set([...sheet.matchAll(/^\s*(--[\w-]+)\s*:/gm)].map(([, name]) => name));
  const colors = new Set([...sheet.matchAll(/#[0-9a-f]{6}\b/g)].map(([color]) => color));
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.svelte'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
  const faults = files.flatMap((path) => {
    const source = read(path);
    // `style:--name={…}` defines a property for the style sheet.
    const defined = [...source.matchAll(/style:(--[\w-]+)/g)].map(([, name]) => name);
    return faultsOfStyle(styleOf(source), new Set([...tokens, ...defined])).map((fault) => `${path}: ${fault}`);
  });
  const shown = files.filter((path) => SHOWN.test(path)).map((path) => basename(path, '.svelte'));
  const source = files.filter((path) => path.startsWith(DESIGN)).map(read);
  faults.push(...faultsOfDesign(shown, source.join('\n')));
  for (const path of STATIC) faults.push(...faultsOfCopy(read(path), colors).map((fault) => `${path}: ${fault}`));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) check();
