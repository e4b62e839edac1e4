// Marks of vendors: `import path from 'simple-icons/icons/NAME.svg?path'` is the path of the icon, for a box of 24 by 24.
// Only the imported icons are in the page.
import { readFileSync } from 'node:fs';

const MARK = /\/simple-icons\/icons\/[\w-]+\.svg\?path$/;
const PATH = /^<svg [^>]*viewBox="0 0 24 24"[^>]*><title>[^<]*<\/title><path d="([^"]+)"\/><\/svg>\s*$/;

export function pathOf(svg, name) {
  const found = PATH.exec(svg);
  if (!found) throw new Error(`${name} is not written as expected: look at what changed in simple-icons`);
  return found[1];
}

/** A Vite plugin. */
export const marks = () => ({
  name: 'marks',
  enforce: 'pre',
  load(id) {
    if (!MARK.test(id)) return undefined;
    const file = id.slice(0, -'?path'.length);
    return `export default ${JSON.stringify(pathOf(readFileSync(file, 'utf8'), file))};`;
  },
});
