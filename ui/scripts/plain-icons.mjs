// Icons as plain markup. @lucide/svelte makes each icon from a list of elements while the page is shown, which costs more than the rest of a
// button; every icon here is drawn alike, so its elements are written out when the page is built.

const ICON = /\/@lucide\/svelte\/dist\/icons\/[\w-]+\.svelte$/;
const DATA = /^const iconData = (\{.*\});$/m;

/** A preprocessor of Svelte. */
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
