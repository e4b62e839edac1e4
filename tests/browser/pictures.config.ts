// `npm run pictures`: writes pictures of every page, in both themes, for phone and desktop, to docs/images/pages.
import config from './playwright.config';

const { projects: _, ...base } = config;

export default { ...base, testMatch: 'pictures/*.pictures.ts', workers: 1, timeout: 600_000, use: { ...base.use, actionTimeout: 20_000 } };
