import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';
import { plainIcons } from './scripts/plain-icons.mjs';

export default {
  preprocess: [vitePreprocess(), plainIcons],
  compilerOptions: { runes: true },
};
