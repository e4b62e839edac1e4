// Texts of the design page. It is for developers, so its texts are not in the catalog.
export const text = {
  title: 'Design',
  intro: 'Every part in every state. Only `npm run dev` builds this page.',
  colors: 'Colors',
  type: 'Type',
  space: 'Space, radii, depth',
  motion: 'Motion',
  replay: 'Play again',
  closeGate: 'Close the gate',
  openGate: 'Open the gate',
  marks: 'Marks',
  buttons: 'Buttons',
  fields: 'Fields',
  pills: 'Badges and tiles',
  notes: 'Notices, errors, loading, empty',
  rows: 'Rows',
  overlays: 'Dialogs and menus',
  approvals: 'Approvals',
  composed: 'Composed of others',
  secretTitle: 'Show a secret',
  coded: 'A text with `code` in it',
  texts: 'Texts',
  markdown: 'A **bold** word, `code`, and a list:\n\n- one\n- two\n\n```json\n{"id": 42}\n```',
  remove: 'Remove',
  removeTyping: 'Remove by typing',
  sentence: 'Five quick Füchse 0123456789, 1,234.50 €, “ÄÖÜß”',
  code: 'whsec_0O1lI != {"id": 42, "ok": true}',
  label: 'Label',
  value: 'A value',
  hint: 'A hint says what the value is for.',
  error: 'Use at least 12 characters.',
  option: 'An option',
  secret: 'whsec_5b3f0a9c2e7d41',
  add: 'Add a row',
  row: 'marie opened #42 Make the checkout faster',
  about: 'Reviewer: looks good, one N+1 left · 796 ms',
  open: 'Open',
  save: 'Save',
} as const;

export const COLORS = [
  ['--sunken', '--ink'],
  ['--ground', '--quiet'],
  ['--surface', '--ink'],
  ['--raised', '--ink'],
  ['--hover', '--quiet'],
  ['--accent', '--on-accent'],
  ['--accent-soft', '--accent-ink'],
  ['--machine-soft', '--machine-ink'],
  ['--brass-soft', '--brass-ink'],
  ['--danger', '--on-danger'],
  ['--danger-soft', '--danger-ink'],
  ['--warning-soft', '--warning-ink'],
  ['--good-soft', '--good-ink'],
  ['--info-soft', '--info-ink'],
  ['--surface', '--machine'],
  ['--surface', '--brass'],
  ['--surface', '--danger'],
  ['--surface', '--accent'],
] as const;

export const SIZES = ['--text-tiny', '--text-small', '--text', '--text-large', '--text-title', '--text-display'];
export const WEIGHTS = ['--weight', '--weight-medium', '--weight-strong'];
export const SPACES = [1, 2, 3, 4, 5, 6, 7].map((step) => `--space-${step}`);
export const RADII = ['--radius-small', '--radius', '--radius-large', '--radius-round'];
export const SHADOWS = ['--shadow', '--shadow-large'];
export const DURATIONS = ['--fast', '--calm', '--gate', '--pass'];
