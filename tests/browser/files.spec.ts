// Files in conversations: picked, pasted and dropped; pictures for models that read images, text for all models.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { pdf, png } from './fixtures/files';
import { ModelServer, picturesOf, SEEING, textOf } from './fixtures/model';
import { expect, test } from './fixtures/test';

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    await use({ ...model.environment, SERVICE_MODELS__DEFAULT: `local/${SEEING}` });
    await model.close();
  },
});

const GREEN = { name: 'green.png', mimeType: 'image/png', buffer: png(40, 30, [0, 160, 0]) };

const writing = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' });
const attached = (page: Page) => page.locator('form').getByRole('list', { name: 'Attached files' });
const sent = (page: Page) => messages(page).getByRole('list', { name: 'Attached files' });
const sending = (page: Page) => page.getByRole('button', { name: 'Send' });

async function open(page: Page): Promise<void> {
  await page.goto('/chat');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(writing(page)).toBeVisible();
}

async function pick(page: Page, ...files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles(files);
}

/** A `DataTransfer` of the page with these files. */
const transfer = (page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]) =>
  page.evaluateHandle(
    (files) => {
      const data = new DataTransfer();
      for (const { name, mimeType, text } of files) {
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        data.items.add(new File([bytes], name, { type: mimeType }));
      }
      return data;
    },
    files.map(({ name, mimeType, buffer }) => ({ name, mimeType, text: buffer.toString('base64') })),
  );

/** The last question that the model was asked. */
const asked = () => model.asked.at(-1)?.messages.findLast(({ role }) => role === 'user')?.content;

/** Whether an image was loaded and decoded. */
const isShown = (page: Page, name: string) =>
  expect
    .poll(() => page.getByRole('img', { name }).evaluate((image) => (image as HTMLImageElement).naturalWidth))
    .toBeGreaterThan(0);

test('a picture is picked, shown, sent to a model that sees, and still there after a reload', async ({ home: _, page }) => {
  await open(page);
  await pick(page, GREEN);
  await expect(attached(page).getByText('green.png', { exact: true })).toBeVisible();
  await expect(sending(page)).toBeEnabled();
  expect(await violations(page)).toEqual([]);
  await writing(page).fill('Which color is this?');
  model.next({ text: ['It is green.'] });
  await writing(page).press('Enter');
  await expect(messages(page).getByText('It is green.')).toBeVisible();
  await expect(attached(page)).toHaveCount(0);
  const [picture, ...others] = picturesOf(asked());
  expect(others).toEqual([]);
  // The picture itself, as JPEG.
  expect(picture).toMatch(/^data:image\/jpeg;base64,\/9j\//);
  expect(textOf(asked())).toContain('name: green.png\ntype: image/png, 40 × 30 pixels');
  expect(textOf(asked())).toContain('Which color is this?');

  await isShown(page, 'Open image green.png');
  await page.reload();
  await expect(messages(page).getByText('It is green.')).toBeVisible();
  await isShown(page, 'Open image green.png');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Open image green.png' }).click();
  const larger = page.getByRole('dialog', { name: 'green.png' });
  await expect(larger.getByRole('img', { name: 'green.png' })).toBeVisible();
  const download = page.waitForEvent('download');
  await larger.getByRole('link', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe('green.png');
});

test('pictures are pasted and dropped, removed again, and sent without a text', async ({ home, page, context }) => {
  await open(page);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
  }, GREEN.buffer.toString('base64'));
  await writing(page).press('Control+v');
  await expect(attached(page).getByText('image.png', { exact: true })).toBeVisible();
  const red = { name: 'red.png', mimeType: 'image/png', buffer: png(20, 20, [200, 0, 0]) };
  const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Buy milk.') };
  const data = await transfer(page, [red, note]);
  // Anywhere on the page.
  await page.locator('body').dispatchEvent('dragover', { dataTransfer: data });
  await page.locator('body').dispatchEvent('drop', { dataTransfer: data });
  await expect(attached(page).getByRole('listitem')).toHaveCount(3);
  await page.getByRole('button', { name: 'Remove red.png' }).click();
  await expect(attached(page).getByRole('listitem')).toHaveCount(2);
  model.next({ text: ['A picture and a note.'] });
  await sending(page).click();
  await expect(messages(page).getByText('A picture and a note.')).toBeVisible();
  expect(picturesOf(asked())).toHaveLength(1);
  expect(textOf(asked())).toContain('name: image.png');
  expect(textOf(asked())).toContain('Buy milk.');
  expect(textOf(asked())).not.toContain('red.png');
  await expect(sent(page).getByRole('listitem')).toHaveCount(2);
  await expect(sent(page).getByRole('link', { name: 'note.txt' })).toBeVisible();
  // The file gives the conversation its name.
  await expect(page.getByRole('heading', { level: 1, name: 'image.png' })).toBeVisible();
  const session = page.url().split('/').at(-1);
  const { tainted } = await home.rpc<{ tainted: boolean }>('sessions.get', { id: session });
  expect(tainted, 'files count as strangers').toBe(true);
});

test('a model that does not see gets the text of a PDF, and the name of a picture', async ({ home, page }) => {
  await home.rpc('agents.update', { id: 'default', model: 'local/test-model' });
  await open(page);
  await pick(page, { name: 'invoice.pdf', mimeType: 'application/pdf', buffer: pdf('The total is 42 euros.') }, GREEN);
  await expect(attached(page).getByRole('listitem')).toHaveCount(2);
  await expect(sending(page)).toBeEnabled();
  await writing(page).fill('What is the total?');
  model.next({ text: ['It is 42 euros.'] });
  await writing(page).press('Enter');
  await expect(messages(page).getByText('It is 42 euros.')).toBeVisible();
  expect(picturesOf(asked())).toEqual([]);
  expect(textOf(asked())).toContain('The total is 42 euros.');
  expect(textOf(asked())).toContain('You cannot see the picture');
  const download = page.waitForEvent('download');
  await sent(page).getByRole('link', { name: 'invoice.pdf' }).click();
  expect((await download).suggestedFilename()).toBe('invoice.pdf');
});

test('a refused file says why, and the draft stays', async ({ home, page, complaints }) => {
  complaints.allow(/status of (413|415)|ERR_CONNECTION_RESET/);
  await home.rpc('config.set', { key: 'agents.attachment_max_bytes', value: 1 << 20 });
  await open(page);
  await writing(page).fill('Please read these.');
  const large = { name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(30 << 20, 'x') };
  const animation = { name: 'cat.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') };
  const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.alloc(1 << 20, 'n') };
  await pick(page, large, animation, note);
  await expect(attached(page).getByRole('alert').getByText('The file is larger than 1 MiB.')).toBeVisible();
  await expect(attached(page).getByRole('alert').getByText(/GIF images are not supported/)).toBeVisible();
  await expect(writing(page)).toHaveValue('Please read these.');
  await writing(page).press('Enter');
  await expect(writing(page)).toHaveValue('Please read these.');
  await page.getByRole('button', { name: 'Remove large.txt' }).click();
  await page.getByRole('button', { name: 'Remove cat.gif' }).click();
  await expect(sending(page)).toBeEnabled();
  await writing(page).press('Enter');
  // The model repeats the message.
  await expect(messages(page).getByRole('article', { name: 'You' })).toContainText('Please read these.');
  await expect(sent(page).getByRole('link', { name: 'note.txt' })).toBeVisible();
  await expect.poll(() => textOf(asked())).toContain('Please read these.');
});

test('a message of a file whose turn failed is asked again with the file', async ({ home: _, page }) => {
  await open(page);
  await pick(page, GREEN);
  await expect(sending(page)).toBeEnabled();
  model.next({ refuse: 400 });
  await writing(page).fill('Look');
  await writing(page).press('Enter');
  await expect(messages(page).getByText(/status 400/)).toBeVisible();
  model.next({ text: ['Green.'] });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(messages(page).getByText('Green.', { exact: true })).toBeVisible();
  expect(picturesOf(asked())).toHaveLength(1);
  await isShown(page, 'Open image green.png');
});
