// `npm run pictures`: pictures of each page, both themes, on a phone and on a desk, into docs/images/pages.
import base from './playwright.config';

export default { ...base, testMatch: 'pictures/*.pictures.ts', workers: 1, timeout: 600_000, use: { ...base.use, actionTimeout: 20_000 } };
