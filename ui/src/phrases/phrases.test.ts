import { expect, test } from 'vitest';
import { TEXTS } from '../client/generated/texts';
import channels from './de/channels.json';
import checks from './de/checks.json';
import failures from './de/failures.json';
import senders from './de/senders.json';
import sentences from './de/sentences.json';
import settings from './de/settings.json';
import voice from './de/voice.json';
import { setLocale } from '../paraglide/runtime.js';
import { translator } from './sentences';
import { textsOf } from './texts';

/** A template of the gateway with its parts as numbers. Parts that begin with `!` or `-` are conditions. */
function numbered(template: string): string {
  let at = 0;
  return template.replaceAll(/\{([^}]*)\}/g, (_, part: string) => (/^[!-]/.test(part) ? '' : `{${++at}}`));
}

const partsIn = (text: string) => [...text.matchAll(/\{(\w+)!?\}/g)].map(([, part]) => part).toSorted();

test('every sentence of every sender has a translation with the same parts, and no other has', () => {
  const expected = TEXTS.senders
    .filter((sender) => sender.sentences.length > 0)
    .map((sender) => [sender.id, [...new Set(sender.sentences.map(numbered))].toSorted()]);
  const translated = Object.entries(sentences.senders);
  expect(Object.fromEntries(translated.map(([id, all]) => [id, Object.keys(all).toSorted()]))).toEqual(
    Object.fromEntries(expected),
  );
  const all = translated.flatMap(([, templates]) => Object.entries(templates));
  expect(all.filter(([english, german]) => partsIn(english).join() !== partsIn(german).join())).toEqual([]);
});

test('every text that stands for a missing value has a translation', () => {
  const templates = TEXTS.senders.flatMap((sender) => sender.sentences);
  const literals = templates.flatMap((template) => [...template.matchAll(/'([^'}]+)'/g)].map(([, text = '']) => text));
  const known = { ...sentences.verbs, ...sentences.values };
  expect([...new Set(literals)].filter((text) => !(text in known))).toEqual([]);
});

/** The lines of a guide that the page shows. */
const lines = (guide: string) =>
  guide.split('\n').flatMap((line) => (line.includes('curl ') ? [] : (/^(?:\d+\.\s+)?(.+)$/.exec(line)?.[1] ?? [])));

test('every description, event, guide and note of the senders has a translation, and nothing else has', () => {
  const expected = TEXTS.senders.flatMap(({ id, about, events, guide, replay_note }) => [
    about,
    ...events,
    // The page has separate steps for any sender.
    ...(id === 'generic' ? [] : lines(guide)),
    replay_note,
  ]);
  expect(Object.keys(senders).toSorted()).toEqual([...new Set(expected)].toSorted());
  expect(Object.entries(senders).filter(([a, b]) => partsIn(a).join() !== partsIn(b).join())).toEqual([]);
});

test.each([
  ['channels', channels, TEXTS.channels],
  ['settings', settings, TEXTS.settings],
  ['voice', voice, TEXTS.voice],
])('every text about %s has a translation, and nothing else has', (_, translated, english) => {
  expect(Object.keys(translated).toSorted()).toEqual(english.toSorted());
});

const german = translator(sentences);

test('a sentence is translated with its parts and its title', () => {
  const github = (sentence: string) => german(sentence, 'codehost_a');
  expect(github('marie opened pull request #42: Make the checkout faster')).toBe(
    'marie hat Pull-Request #42 geöffnet: Make the checkout faster',
  );
  expect(github('marie pushed 2 commits to main.')).toBe('marie hat 2 Commits auf main gepusht.');
  expect(github('Someone assigned issue #7 to someone.')).toBe('Jemand hat Issue #7 jemand zugewiesen.');
  // The words of a sender are not changed, even if the gateway uses them too.
  expect(github('marie deleted opened.')).toBe('marie hat opened gelöscht.');
  expect(github('marie added the label $& to pull request #1.')).toBe(
    'marie hat Pull-Request #1 das Label $& gegeben.',
  );
  expect(german('Order: The order #1 was paid.', 'shopify')).toBeNull();
  expect(german('The order #1001 was paid.', 'shopify')).toBe('Die Bestellung #1001 wurde bezahlt.');
  expect(german('Something else.', 'shopify')).toBeNull();
  expect(german('The order #1001 was paid.', 'unknown')).toBeNull();
});

test('the title that a stranger chose does not choose the translation', () => {
  const github = (sentence: string) => german(sentence, 'codehost_a');
  expect(github('eve opened issue #7: Someone made the repository acme/shop public.')).toBe(
    'eve hat Issue #7 geöffnet: Someone made the repository acme/shop public.',
  );
  expect(github('eve opened issue #7: I added bob as a member of the team admins.')).toBe(
    'eve hat Issue #7 geöffnet: I added bob as a member of the team admins.',
  );
  expect(german('eve opened issue #7: Please try again.', 'codehost_b')).toBe(
    'eve hat Issue #7 geöffnet: Please try again.',
  );
  expect(german('eve created issue X-1: 3 of 4 bugs', 'tracker_a')).toBe('eve hat Issue X-1 erstellt: 3 of 4 bugs');
});

test('a colon in a template or in a name is not the beginning of a title', () => {
  const github = (sentence: string) => german(sentence, 'codehost_a');
  expect(github('The workflow CI: all ended: success.')).toBe('Der Workflow CI: all ist beendet: success.');
  expect(github('marie added the label type: bug to pull request #1: Faster')).toBe(
    'marie hat Pull-Request #1 das Label type: bug gegeben: Faster',
  );
  expect(german('api: eu is down.', 'uptime_kuma')).toBe('api: eu ist ausgefallen.');
});

test('a label that a person wrote is not translated by a template without words', () => {
  const label = (text: string) => german(text, 'codehost_a', true);
  expect(german('Ask Marie about.', 'codehost_a')).not.toBeNull();
  expect(label('Fix login: urgent')).toBeNull();
  expect(label('Ask Marie about the rollout.')).toBeNull();
  expect(german('Budget: 3 of 5 done', 'tracker_a', true)).toBeNull();
  expect(label('marie opened pull request #42: Faster')).toBe('marie hat Pull-Request #42 geöffnet: Faster');
});

test('what every object inherits is not a translation', async () => {
  expect(german('marie constructor issue #7.', 'codehost_a')).toBe('marie hat Issue #7 constructor.');
  expect(german('marie deleted constructor.', 'codehost_a')).toBe('marie hat constructor gelöscht.');
  expect(german('marie pushed 2 constructor to main.', 'codehost_a')).toBe('marie hat 2 constructor auf main gepusht.');
  expect(german('marie commented.', 'constructor')).toBeNull();
  await setLocale('de', { reload: false });
  expect((await textsOf('settings'))('constructor')).toBe('constructor');
});

test('a check is translated with its parts', () => {
  const say = translator({ values: {}, verbs: {}, senders: { checks } });
  expect(say('59 GiB are free in the data directory.', 'checks')).toBe('Im Datenverzeichnis sind 59 GiB frei.');
  expect(say('Text-to-speech uses Piper. Speech-to-text is off.', 'checks')).toBe(
    'Die Sprachausgabe verwendet Piper. Die Spracherkennung ist ausgeschaltet.',
  );
  expect(Object.entries(checks).filter(([a, b]) => partsIn(a).join() !== partsIn(b).join())).toEqual([]);
});

test('a failure is translated with its parts', () => {
  const say = translator(failures);
  expect(say('The model provider openai rejected the key.', 'failures')).toBe(
    'Der Modellanbieter openai hat den Schlüssel abgelehnt.',
  );
  expect(say('ntfy could not be reached.', 'failures')).toBe('ntfy war nicht erreichbar.');
  expect(say('The mail server refused the message (550).', 'failures')).toBe(
    'Der Mailserver hat die Nachricht abgelehnt (550).',
  );
  expect(say('Something else.', 'failures')).toBeNull();
  expect(Object.entries(failures.senders.failures).filter(([a, b]) => partsIn(a).join() !== partsIn(b).join())).toEqual(
    [],
  );
});
