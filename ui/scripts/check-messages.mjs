// Fails if the catalog contains an unused text, if its keys are not sorted, if another language has missing,
// extra or empty texts, other placeholders or other plural variants, if a component contains a text that is not
// in the catalog, or if a source formats dates or numbers without the user's region (`src/parts/region.ts`).
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'svelte/compiler';

const ROOT = new URL('../', import.meta.url).pathname;
const NOT_OURS = /(^|\/)(paraglide|generated)\//;
/** Attributes whose text is shown or read aloud. */
const SPOKEN = new Set([
  'alt',
  'aria-description',
  'aria-label',
  'aria-roledescription',
  'label',
  'placeholder',
  'text',
  'title',
]);

const keysOf = (texts) => Object.keys(texts).filter((key) => key !== '$schema');

/** The variants of a text by their condition; a text without plural has one. */
const variantsOf = (text) => (typeof text === 'string' ? { '': text } : text[0].match);
const placeholdersOf = (text) => {
  const all = Object.values(variantsOf(text)).flatMap((one) => one.match(/\{\w+\}/g) ?? []);
  return [...new Set(all)].sort().join(' ');
};

/** Faults of a catalog, given the sources that use it. */
export function faultsOfCatalog(keys, sources) {
  const used = new Set(sources.flatMap((source) => [...source.matchAll(/\bm\.(\w+)/g)].map(([, key]) => key)));
  const sorted = [...keys].sort();
  const stray = keys.findIndex((key, at) => key !== sorted[at]);
  return [
    ...keys.filter((key) => !used.has(key)).map((key) => `nothing says \`${key}\``),
    ...(stray < 0 ? [] : [`out of order from \`${keys[stray]}\`, where \`${sorted[stray]}\` belongs`]),
  ];
}

/** What a language's texts lack or have in excess, and texts that do not match those of the first language. */
export function faultsOfLanguage(texts, baseTexts) {
  const [keys, base] = [keysOf(texts), keysOf(baseTexts)];
  return [
    ...base.filter((key) => !keys.includes(key)).map((key) => `lacks \`${key}\``),
    ...keys.filter((key) => !base.includes(key)).map((key) => `has \`${key}\`, which the first language has not`),
    ...keys.filter((key) => base.includes(key)).flatMap((key) => faultsOfText(key, texts[key], baseTexts[key])),
  ];
}

function faultsOfText(key, text, base) {
  const faults = [];
  if (Object.values(variantsOf(text)).some((one) => one.trim() === '')) faults.push(`\`${key}\` is empty`);
  const [variants, wanted] = [text, base].map((one) => Object.keys(variantsOf(one)).join(' '));
  if (variants !== wanted) faults.push(`\`${key}\` has the variants “${variants}” instead of “${wanted}”`);
  const [found, expected] = [text, base].map(placeholdersOf);
  if (found !== expected) faults.push(`\`${key}\` has the placeholders “${found}” instead of “${expected}”`);
  return faults;
}

/** Formats that ignore the user's region. */
export const unregional = (source) =>
  [...source.matchAll(/\.toLocale\w*String\(|\bnew Intl\.\w+Format\((?:\)|undefined)/g)].map(([call]) => call);

/** False for addresses, header names and the like, which are the same in every language. */
const isWords = (text) => /\p{L}{2,}/u.test(text) && !/^\S*[\d./:_@-]\S*$/.test(text.trim());

/** Texts of a component that are not in the catalog. */
export function spoken(source) {
  const found = [];
  const visit = (node, within) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) return node.forEach((one) => visit(one, within));
    if (node.type === 'Attribute' && !SPOKEN.has(node.name)) {
      if (node.name === 'style') found.push('an inline style');
      return;
    }
    if (node.type === 'StyleDirective') return;
    if (node.type === 'HtmlTag') found.push('{@html}');
    if (node.type === 'Text' && within !== 'code' && isWords(node.data)) found.push(`“${node.data.trim()}”`);
    const inside = node.type === 'RegularElement' && ['code', 'kbd', 'pre'].includes(node.name) ? 'code' : within;
    for (const [name, child] of Object.entries(node)) if (name !== 'metadata') visit(child, inside);
  };
  visit(parse(source, { modern: true }).fragment, null);
  return found;
}

function check() {
  const { baseLocale, locales } = JSON.parse(readFileSync(join(ROOT, 'project.inlang/settings.json'), 'utf8'));
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(svelte|ts)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !NOT_OURS.test(path));
  const sources = files.map((path) => readFileSync(path, 'utf8'));
  const catalog = (locale) => JSON.parse(readFileSync(join(ROOT, `messages/${locale}.json`), 'utf8'));
  const base = catalog(baseLocale);
  const faults = faultsOfCatalog(keysOf(base), sources).map((fault) => `messages/${baseLocale}.json: ${fault}`);
  for (const locale of locales) {
    faults.push(...faultsOfLanguage(catalog(locale), base).map((fault) => `messages/${locale}.json: ${fault}`));
  }
  files.forEach((path, at) => {
    faults.push(...unregional(sources[at]).map((call) => `${relative(ROOT, path)}: ${call} ignores the region`));
    if (!path.endsWith('.svelte')) return;
    faults.push(...spoken(sources[at]).map((text) => `${relative(ROOT, path)}: says ${text} itself`));
  });
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) check();
