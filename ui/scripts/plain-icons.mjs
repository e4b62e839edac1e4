// Icons as plain markup. @lucide/svelte creates each icon from a list of elements at run time, which costs
// more than the rest of a button. All icons here have the same attributes, so their elements are generated at
// build time.

const ICON = /\/@lucide\/svelte\/dist\/icons\/[\w-]+\.svelte$/;
const DATA = /^const iconData = (\{.*\});$/m;

/** A Svelte preprocessor. */
export const plainIcons = {
  name: 'plain-icons',
  markup({ content, filename = '' }) {
    if (!ICON.test(filename)) return undefined;
    const found = DATA.exec(content);
    if (!found) throw new Error(`${filename} is not written as expected: look at what changed in @lucide/svelte`);
    const { size, node } = JSON.parse(found[1]);
    const inside = node.map(([tag, attributes]) => `<${tag}${written(attributes)} />`).join('');
    const code = `<script>
let { size = ${size}, strokeWidth = 2 } = $props();
</script>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width={size} height={size} stroke-width={strokeWidth} fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${inside}</svg>`;
    return { code };
  },
};

const written = (attributes) =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
    .join('');
