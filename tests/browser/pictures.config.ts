// `npm run pictures`: writes pictures of every page, in both themes, for phone and desktop, to docs/images/pages.
import base from './playwright.config';

export default { ...base, testMatch: 'pictures/*.pictures.ts', workers: 1, timeout: 600_000, use: { ...base.use, actionTimeout: 20_000 } };
