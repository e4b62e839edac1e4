// Conversations: streaming, tools, approvals, sharing, restarts, and long conversations.
import type { Page, WebSocketRoute } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { expect, PASSWORD, secondWindow, test, watch } from './fixtures/test';

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    await use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' });
    await model.close();
  },
});

const writing = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' });

async function open(page: Page, path = '/chat'): Promise<void> {
  await page.goto(path);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(writing(page)).toBeVisible();
}

async function ask(page: Page, text: string): Promise<void> {
  await writing(page).fill(text);
  await writing(page).press('Enter');
  await expect(writing(page)).toHaveValue('');
}

test('an answer streams to every open window', async ({ home, page }) => {
  await open(page);
  model.next({ text: ['The first answer ', 'begins', ' and ends.'], hold: true });
  await ask(page, 'A first question');
  await expect(messages(page).getByText('The first answer begins')).toBeVisible();
  // The conversation gets its URL without a page load.
  await expect(page).toHaveURL(/\/chat\/ses_/);
  await expect(page.getByRole('heading', { level: 1, name: 'A first question' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  model.go();
  await expect(messages(page).getByText('The first answer begins and ends.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  await expect(messages(page).getByText('12 tokens in, 7 out')).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: 'says: The first answer begins and ends.' })).toHaveCount(1);
  await expect(writing(page)).toBeFocused();

  const other = await secondWindow(page);
  await open(other, new URL(page.url()).pathname);
  await expect(messages(other).getByText('The first answer begins and ends.')).toBeVisible();
  model.next({ text: ['Now **both** see ', 'it'], hold: true });
  await ask(page, 'And now?');
  for (const window of [page, other]) {
    await expect(messages(window).getByText('And now?')).toHaveCount(1);
    await expect(messages(window).getByText('Now both see')).toBeVisible();
  }
  model.go();
  for (const window of [page, other]) await expect(messages(window).getByText('Now both see it')).toBeVisible();
  // The page shows the end of the stream just before the message is stored.
  const session = page.url().split('/').at(-1);
  const stored = async () => (await home.rpc<{ messages: unknown[] }>('chat.history', { session })).messages.length;
  await expect.poll(stored).toBe(4);
});

test('an answer can be stopped and asked again, and so can a request that the model refused', async ({ home: _, page }) => {
  await open(page);
  model.next({ text: ['As far as this', ' and no further'], hold: true });
  await ask(page, 'Say something long');
  await expect(messages(page).getByText('As far as this')).toBeVisible();
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(messages(page).getByText('The turn was stopped.')).toBeVisible();
  // The partial answer is kept, also after a reload.
  await expect(messages(page).getByText('As far as this')).toBeVisible();
  model.next({ refuse: 400 });
  await page.getByRole('button', { name: 'Try again' }).click();
  // The new attempt takes the place of the stopped one.
  await expect(messages(page).getByText(/status 400/)).toBeVisible();
  await expect(messages(page).getByText('As far as this')).toHaveCount(0);
  model.next({ text: ['At last.'] });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(messages(page).getByText('At last.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
  await page.reload();
  await expect(messages(page).getByText('At last.')).toBeVisible();
  await expect(messages(page).getByText('Say something long')).toHaveCount(1);
  const asked = model.asked.at(-1)?.messages.findLast((message) => message.role === 'user');
  expect(JSON.stringify(asked)).toContain('Say something long');
});

test('an incomplete answer says why, also after a reload', async ({ home: _, page }) => {
  await open(page);
  model.next({ text: ['Once upon a'], finish: 'length' });
  await ask(page, 'Tell me a story');
  const cut = messages(page).getByText('The answer is incomplete: the model reached its token limit.');
  await expect(cut).toBeVisible();
  await expect(messages(page).getByRole('alert')).toHaveCount(1);
  model.next({ refuse: 401 });
  await ask(page, 'Go on');
  const failed = messages(page).getByText('rejected the key');
  await expect(failed).toBeVisible();
  await page.reload();
  await expect(messages(page).getByText('Once upon a')).toBeVisible();
  await expect(cut).toBeVisible();
  await expect(failed).toBeVisible();
  await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(1);
});

test('a tool call is shown as a collapsed card', async ({ home: _, page }) => {
  await open(page);
  model.next({ tool: { name: 'calc', arguments: { expression: '0.175 * 2480' } } });
  model.next({ text: ['It is 434.'] });
  await ask(page, 'Work it out');
  await expect(messages(page).getByText('It is 434.')).toBeVisible();
  const card = messages(page).getByRole('group').filter({ hasText: 'calc' });
  await expect(card.getByText('Done')).toBeVisible();
  await expect(page.getByRole('group', { name: 'Input' })).toHaveCount(0);
  await card.getByText('calc').click();
  await expect(page.getByRole('group', { name: 'Input' })).toContainText('0.175 * 2480');
  await expect(page.getByRole('group', { name: 'Output' })).toHaveText('434');
});

test('a tool that needs approval is denied, then allowed', async ({ home: _, page }) => {
  await open(page);
  const call = { tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/secret' } } };
  model.next(call);
  model.next({ text: ['Then not.'] });
  await ask(page, 'Fetch it');
  await expect(page.getByRole('heading', { name: 'Allow the agent to use “web_fetch”?' })).toBeVisible();
  // The request is also shown in a window opened later, and the list marks the conversation that waits.
  const other = await secondWindow(page);
  await other.goto(new URL(page.url()).pathname);
  await expect(other.getByRole('link', { name: /Fetch it Needs approval/ })).toBeVisible();
  await other.getByRole('button', { name: 'Deny' }).click();
  await expect(messages(page).getByText('Then not.')).toBeVisible();
  await expect(messages(page).getByText('Denied', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Allow' })).toHaveCount(0);
  model.next(call);
  model.next({ text: ['I tried.'] });
  await ask(page, 'Fetch it all the same');
  await page.getByRole('button', { name: 'Allow' }).click();
  await expect(messages(page).getByText('I tried.')).toBeVisible();
  // Requests to this machine are blocked, but the approved call was attempted.
  await expect(messages(page).getByText('Failed')).toBeVisible();
});

test('hidden and bidirectional characters in an approval are shown and counted', async ({ home: _, page }) => {
  await open(page);
  model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/\u202Egpj.exe\u200B' } } });
  model.next({ text: ['Then not.'] });
  await ask(page, 'Fetch it');
  const asked = page.getByRole('region', { name: 'Allow the agent to use “web_fetch”?' });
  await expect(asked.getByRole('group', { name: 'Input' })).toContainText(
    String.raw`http://127.0.0.1:1/\u{202E}gpj.exe\u{200B}`,
  );
  await expect(asked.getByText('this contains 2 hidden characters')).toBeVisible();
  await asked.getByRole('button', { name: 'Deny' }).click();
  await expect(messages(page).getByText('Then not.')).toBeVisible();
});

test('markup in a hostile answer has no effect', async ({ home: _, page }) => {
  await open(page);
  page.on('dialog', () => expect(true, 'a dialog opened by the answer').toBe(false));
  const hostile = [
    '# Title\n\n<script>window.pwned = 1</script>\n\n<img src="https://evil.example/x.png" onerror="window.pwned = 2">\n\n',
    '![pixel](https://evil.example/pixel.png) [click](javascript:window.pwned=3) [fine](https://a.example/page)\n\n',
    '<p style="position:fixed;inset:0;background:red" onclick="window.pwned=4">cover</p>\n\n<style>body{display:none}</style>\n\n',
    '<a href="javascript:window.pwned=5">raw</a> <iframe srcdoc="<script>parent.pwned=6</script>"></iframe>\n\n',
    '```js\nwindow.pwned = 7\n```\n\nThe end of it.',
  ];
  model.next({ text: hostile });
  await ask(page, 'Be nasty');
  await expect(messages(page).getByText('The end of it.')).toBeVisible();
  const answer = page.locator('.markdown');
  await expect(answer.locator('img, script, style, iframe, [style], [onclick], [onerror]')).toHaveCount(0);
  await expect(answer.getByRole('link')).toHaveCount(2);
  await expect(answer.getByRole('link', { name: 'fine' })).toHaveAttribute('rel', 'noopener noreferrer');
  await expect(answer.getByRole('link', { name: 'Image: pixel' })).toHaveAttribute('target', '_blank');
  await answer.getByText('cover').click();
  expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await answer.getByRole('button', { name: 'Copy code' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('window.pwned = 7');
  expect(await violations(page)).toEqual([]);
});

test('the cells of a table in an answer have room, and its rows can be told apart', async ({ home: _, page }) => {
  await open(page);
  model.next({ text: ['| Service | State |\n|---|---|\n| gateway | up |\n| backup | slow |\n'] });
  await ask(page, 'How are they?');
  const rows = messages(page).getByRole('table').getByRole('row');
  await expect(rows).toHaveCount(3);
  const [first, second] = await rows.evaluateAll(([, ...all]) =>
    all.map((row) => {
      const { paddingTop, paddingLeft, borderTopWidth } = getComputedStyle(row.querySelector('td') ?? row);
      return { room: [paddingTop, paddingLeft].map(parseFloat), line: borderTopWidth, ground: getComputedStyle(row).backgroundColor };
    }),
  );
  expect(first?.room[0]).toBeGreaterThanOrEqual(8);
  expect(first?.room[1]).toBeGreaterThanOrEqual(16);
  expect(first?.line).toBe('1px');
  expect(second?.ground).not.toBe(first?.ground);
});

test('rename, search, share across a restart, and delete a conversation', async ({ home, page, browser, complaints }) => {
  complaints.allowDowntime();
  await home.rpc('chat.send_sync', { text: 'About bread' });
  await home.rpc('chat.send_sync', { text: 'About cheese' });
  await open(page);
  const list = page.getByRole('list', { name: 'Conversations' });
  await expect(list.getByRole('listitem')).toHaveCount(2);
  await list.getByRole('link', { name: /About bread/ }).click();
  await expect(messages(page).getByText('You said: About bread')).toBeVisible();

  await page.getByRole('button', { name: 'Rename, share or delete' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Rye and wheat');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Rye and wheat' })).toBeVisible();
  await expect(list.getByRole('link', { name: /Rye and wheat/ })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('cheese');
  await expect(list.getByRole('listitem')).toHaveCount(1);
  // Its name has changed, so only its messages contain the word.
  await page.getByRole('searchbox').fill('bread');
  await expect(list.getByRole('listitem')).toHaveCount(1);
  await expect(list.getByRole('link', { name: /Rye and wheat/ })).toContainText('About bread');
  await page.getByRole('searchbox').fill('nothing of the kind');
  await expect(page.getByText('No conversations match')).toBeVisible();
  await page.getByRole('searchbox').fill('');

  await page.getByRole('button', { name: 'Rename, share or delete' }).click();
  await page.getByRole('menuitem', { name: 'Share…' }).click();
  await expect(page.getByRole('dialog')).toContainText('Anyone with the link can read this conversation');
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue();
  const stranger = await browser.newContext();
  watch(stranger, home.origin, complaints);
  const reading = await stranger.newPage();
  expect((await reading.goto(home.origin + new URL(link).pathname))?.status()).toBe(200);
  await expect(reading.getByText('You said: About bread')).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await reading.emulateMedia({ colorScheme });
    expect(await violations(reading)).toEqual([]);
  }
  // A share survives a restart, and the page that created it continues.
  await home.restart('SIGKILL');
  expect((await reading.reload())?.status()).toBe(200);
  await expect(reading.getByText('You said: About bread')).toBeVisible();
  await home.call('POST', '/api/auth/vault/unlock', { password: PASSWORD });
  await expect(page.getByText('Live', { exact: true })).toBeAttached();
  await page.getByRole('button', { name: 'Stop sharing' }).click();
  await expect(page.getByRole('button', { name: 'Create link' })).toBeVisible();
  expect((await reading.reload())?.status()).toBe(404);
  await stranger.close();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Actions for Rye and wheat' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/\/chat$/);
  await expect(list.getByRole('listitem')).toHaveCount(1);
  const { sessions } = await home.rpc<{ sessions: { label: string }[] }>('sessions.list');
  expect(sessions.map((one) => one.label)).toEqual(['About cheese']);
});

test('a restart during an answer: the question is kept and can be asked again', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await open(page);
  model.next({ text: ['This will be ', 'lost'], hold: true });
  await ask(page, 'Are you there?');
  await expect(messages(page).getByText('This will be')).toBeVisible();
  await home.stop('SIGKILL');
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  await home.run();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(messages(page).getByText('Are you there?')).toHaveCount(1);
  await expect(messages(page).getByText('This will be')).toBeVisible();
  await expect(messages(page).getByText('Interrupted: Gatehouse stopped before the answer was complete.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(messages(page).getByText('You said: Are you there?')).toBeVisible();
});

test('two messages sent before the first is accepted become one conversation, in their order', async ({ home, page }) => {
  const held: string[] = [];
  let holds = true;
  let release = (): void => undefined;
  await page.routeWebSocket(/\/ws\/chat$/, (line) => {
    const server = line.connectToServer();
    server.onMessage((message) => {
      if (holds && String(message).includes('session_key')) held.push(String(message));
      else line.send(message);
    });
    release = () => {
      holds = false;
      for (const message of held) line.send(message);
    };
  });
  await open(page);
  await ask(page, 'Number one');
  await ask(page, 'Number two');
  await expect.poll(() => held.length).toBe(1);
  release();
  await expect(messages(page).getByText('You said: Number two')).toBeVisible();
  const { sessions } = await home.rpc<{ sessions: { id: string }[] }>('sessions.list', {});
  expect(sessions).toHaveLength(1);
  // An answer is shown before it is stored.
  const texts = async (): Promise<string[]> => {
    const history = await home.rpc<{ messages: { content: string }[] }>('chat.history', { session: sessions[0]?.id });
    return history.messages.map(({ content }) => content);
  };
  await expect.poll(texts).toEqual(['Number one', 'You said: Number one', 'Number two', 'You said: Number two']);
});

test('a connection lost during an answer: the rest of the answer still arrives', async ({ home: _, page }) => {
  const lines: WebSocketRoute[] = [];
  let isCut = false;
  await page.routeWebSocket(/\/ws\/chat$/, (line) => {
    if (isCut) return void line.close();
    lines.push(line);
    line.connectToServer();
  });
  await open(page);
  model.next({ text: ['Half of it ', 'and the rest.'], hold: true });
  await ask(page, 'Tell me all');
  await expect(messages(page).getByText('Half of it')).toBeVisible();
  isCut = true;
  await lines.at(-1)?.close({ code: 1011 });
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  isCut = false;
  model.go();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(messages(page).getByText('Half of it and the rest.')).toBeVisible();
  await expect(messages(page).getByText('Tell me all')).toHaveCount(1);
  await expect(page.getByRole('button', { name: /Stop|Try again/ })).toHaveCount(0);
});

test('keyboard-only use, and the narrowest screen', async ({ home, page }) => {
  model.next({ tool: { name: 'calc', arguments: { expression: '1 + 1' } } });
  model.next({ text: ['# A heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode that is long enough to be wider than any phone there is\n```'] });
  await home.rpc('chat.send_sync', { text: 'Show me' });
  await open(page);
  await expect(writing(page)).toBeFocused();
  await page.keyboard.type('First line');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('second line');
  await expect(writing(page)).toHaveValue('First line\nsecond line');
  await page.keyboard.press('Enter');
  await expect(messages(page).getByText('You said: First line')).toBeVisible();
  await expect(writing(page)).toBeFocused();
  // A draft belongs to its conversation.
  await page.keyboard.type('Not sent yet');
  const link = page.getByRole('link', { name: /Show me/ });
  for (let step = 0; step < 40 && !(await link.evaluate((one) => one === document.activeElement)); step++) {
    await page.keyboard.press('Shift+Tab');
  }
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Show me' })).toBeVisible();
  await expect(writing(page)).toHaveValue('');
  await page.locator('summary').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'Output' })).toHaveText('2');
  await page.goBack();
  await expect(writing(page)).toHaveValue('Not sent yet');
  await page.goForward();
  await expect(page.getByRole('group', { name: 'Table' })).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  await page.getByRole('button', { name: 'Conversations', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Conversations' }).getByRole('link', { name: /First line/ })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: /First line/ }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1, name: 'First line' })).toBeVisible();
});

test('agent and model can be chosen', async ({ home, page }) => {
  await home.rpc('agents.create', { id: 'poet', name: 'Poet', system_prompt: 'Rhyme.' });
  await open(page, '/chat?agent=poet');
  const chip = page.getByRole('button', { name: /^Agent and model:/ });
  await expect(chip).toHaveText(/Poet/);
  // On a phone the chip takes one line, and its menu fits the screen.
  await page.setViewportSize({ width: 390, height: 844 });
  await chip.click();
  const menu = page.getByRole('menu', { name: 'Agent and model' });
  await expect(menu.getByRole('menuitemradio', { name: 'Poet' })).toBeFocused();
  await expect(menu.getByRole('menuitemradio', { name: 'Poet' })).toBeChecked();
  const [shown, button] = [await menu.boundingBox(), await chip.boundingBox()];
  expect(shown!.x).toBeGreaterThanOrEqual(0);
  expect(shown!.x + shown!.width).toBeLessThanOrEqual(390);
  expect(shown!.y).toBeGreaterThanOrEqual(0);
  expect(shown!.y + shown!.height).toBeLessThanOrEqual(844);
  expect(button!.height).toBeLessThan(48);
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('l');
  await expect(menu.getByRole('menuitemradio', { name: /^local\// }).first()).toBeFocused();
  await menu.getByRole('menuitemradio', { name: 'local/other-model' }).click();
  await expect(menu).toBeHidden();
  await expect(chip).toHaveText(/Poet · local\/other-model/);
  await expect(chip).toBeFocused();
  await page.setViewportSize({ width: 1280, height: 900 });
  await ask(page, 'Roses are red');
  await expect(messages(page).getByText('You said: Roses are red')).toBeVisible();
  expect(model.asked.at(-1)?.model).toBe('other-model');
  expect(JSON.stringify(model.asked.at(-1)?.messages)).toContain('Rhyme.');
  await page.reload();
  await expect(chip).toHaveText(/Poet/);
});

test('a long conversation opens at its end and loads earlier messages on scroll', async ({ home, page }) => {
  test.setTimeout(240_000);
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Question 1' });
  for (let number = 2; number <= 150; number++) await home.rpc('chat.send_sync', { session, text: `Question ${number}` });
  await open(page, `/chat/${session}`);
  await expect(messages(page).getByText('You said: Question 150')).toBeInViewport();
  await expect(messages(page).getByText('Question 1', { exact: true })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Jump to latest' })).toHaveCount(0);
  const first = messages(page).getByText('Question 1', { exact: true });
  await expect(async () => {
    await messages(page).evaluate((box) => (box.scrollTop = 0));
    await expect(first).toBeVisible({ timeout: 500 });
  }).toPass();
  // Every message is present, once and in order.
  const numbers = await messages(page).getByText(/^Question \d+$/).allTextContents();
  expect(numbers.map((text) => Number(text.slice(9)))).toEqual(Array.from({ length: 150 }, (_, at) => at + 1));
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect(messages(page).getByText('You said: Question 150')).toBeInViewport();
});

test('on a low screen the message field stays above the navigation, and the page does not scroll', async ({ home, page }) => {
  model.next({ text: [Array.from({ length: 40 }, (_, at) => `Line ${at}`).join('\n\n')] });
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Count' });
  // A phone in landscape, a desktop at 200 % zoom, a phone in portrait, a low window.
  for (const [width, height] of [[667, 375], [640, 400], [320, 640], [1280, 500]] as const) {
    await page.setViewportSize({ width, height });
    for (const path of ['/chat', `/chat/${session}`]) {
      await open(page, path);
      if (path !== '/chat') await expect(messages(page).getByText('Line 39')).toBeInViewport();
      const send = page.getByRole('button', { name: 'Send' });
      await expect(send).toBeVisible();
      const at = `${path} at ${width} × ${height}`;
      const { bottom, over } = await send.evaluate((button) => ({
        bottom: button.getBoundingClientRect().bottom,
        over: document.documentElement.scrollHeight - document.documentElement.clientHeight,
      }));
      const navigation = await page.getByRole('navigation').first().boundingBox();
      const floor = width < 832 ? (navigation?.y ?? 0) : height;
      expect(bottom, at).toBeLessThanOrEqual(floor);
      expect(over, at).toBeLessThanOrEqual(1);
    }
  }
});

test('a shared conversation with long words is not wider than the screen', async ({ home, page }) => {
  const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: `https://example.org/${'long'.repeat(80)}` });
  const { url } = await home.rpc<{ url: string }>('sessions.share', { id: session });
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(url);
  await expect(page.getByRole('article')).toHaveCount(2);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
});

test.describe('without a model provider', () => {
  test.use({ environment: {} });

  test('the page says so and links to the provider settings', async ({ home: _, page }) => {
    await open(page);
    await expect(page.getByText('No model provider is set up yet')).toBeVisible();
    await page.getByRole('button', { name: /^What is 17\.5/ }).click();
    await expect(writing(page)).toHaveValue(/^What is 17\.5/);
    await writing(page).press('Enter');
    await expect(messages(page).getByRole('alert')).toBeVisible();
    await page.getByRole('link', { name: 'Set up a model provider' }).click();
    await expect(page).toHaveURL(/\/settings\/providers/);
  });
});
