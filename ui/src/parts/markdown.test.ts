// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import { blocksOf } from './markdown';

function html(text: string): string {
  const box = document.createElement('div');
  for (const block of blocksOf(text) ?? []) box.append(block.render());
  return box.innerHTML.trim();
}

function shown(text: string): HTMLDivElement {
  const box = document.createElement('div');
  box.innerHTML = html(text);
  return box;
}

const ALLOWED = /^(A|P|BR|STRONG|EM|DEL|CODE|PRE|BLOCKQUOTE|UL|OL|LI|H3|H4|H5|H6|HR|TABLE|THEAD|TBODY|TR|TH|TD)$/;
const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg><animate onbegin=alert(1) attributeName=x></svg>',
  '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<form action="https://evil.example"><button>Unlock</button></form>',
  '<a href="javascript:alert(1)" style="position:fixed;inset:0">x</a>',
  '<p style="background:url(https://evil.example/x)">x</p><style>*{display:none}</style>',
  '<div id="page" class="skip">x</div>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert%281%29)',
  '[x](java\nscript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](\u0001javascript:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:msgbox(1))',
  '[x](blob:https://a/b)',
  '[x](//evil.example)',
  '[x](/api/auth/logout)',
  '[x](https://a.example" onclick="alert(1))',
  '[x]: javascript:alert(1)\n\n[x]',
  '![x](https://evil.example/pixel.png)',
  '![x](x" onerror="alert(1))',
  '![x](data:image/svg+xml,<svg/onload=alert(1)>)',
  '<javascript:alert(1)>',
  '`<img src=x onerror=alert(1)>`',
  '```html"><script>alert(1)</script>\n<script>alert(1)</script>\n```',
  '# <img src=x onerror=alert(1)>',
  '| a |\n|---|\n| <img src=x onerror=alert(1)> |',
  '- [ ] <input autofocus onfocus=alert(1)>',
  '> <script>alert(1)</script>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<p class="visually-hidden"><code class="button danger">x</code></p>',
  '``` visually-hidden\nx\n```',
  '<xmp><p title="</xmp><img src onerror=alert(1)>">',
  'https://a.example/"onmouseover="alert(1)',
];

describe('a hostile text', () => {
  it.each(HOSTILE)('does nothing: %s', (text) => {
    for (const element of shown(text).querySelectorAll('*')) {
      expect(element.tagName).toMatch(ALLOWED);
      for (const { name, value } of element.attributes) {
        expect(name).toMatch(/^(href|target|rel|title|align|start|class)$/);
        if (name === 'class') expect(value).toMatch(/^language-[\w+#.-]+$/);
        if (name === 'href') expect(value).toMatch(/^(https?:\/\/|mailto:)/i);
      }
    }
  });

  it('is shown as what it is', () => {
    expect(shown('<script>alert(1)</script>').textContent).toBe('<script>alert(1)</script>');
    expect(shown('a <b onclick="x">b</b>').textContent?.trim()).toBe('a <b onclick="x">b</b>');
  });

  it('may be nested as deeply or be as long as it likes', () => {
    const deep = '>'.repeat(20_000) + ' x';
    expect(blocksOf(deep) === null || html(deep).length > 0).toBe(true);
    expect(blocksOf('x'.repeat(400_000))).toBeNull();
  });
});

describe('links', () => {
  it('open in another tab that learns nothing, and tell where they lead', () => {
    const link = shown('[Docs](https://a.example/b)').querySelector('a');
    expect(link?.rel).toBe('noopener noreferrer');
    expect(link?.target).toBe('_blank');
    expect(link?.title).toBe('https://a.example/b');
  });

  it('stand where an image would be', () => {
    const link = shown('![A cat](https://a.example/cat.png)').querySelector('a');
    expect(link?.getAttribute('href')).toBe('https://a.example/cat.png');
    expect(link?.textContent).toContain('A cat');
  });
});

describe('what is kept', () => {
  it('blocks of all kinds', () => {
    expect(html('a **b** _c_ ~~d~~ `e`')).toBe('<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>');
    expect(html('3. a\n4. b')).toContain('<ol start="3">');
    expect(html('- [x] a')).toContain('☑ a');
    expect(html('| a | b |\n|---|:-:|\n| c<br>d | e |')).toContain('<td>c<br>d</td>');
    expect(html('```sh\nls <x>\n```')).toBe('<pre><code class="language-sh">ls &lt;x&gt;\n</code></pre>');
    expect(html('[a][1]\n\n[1]: https://a.example')).toContain('href="https://a.example"');
  });

  it('headings below the heading of the message, none skipped', () => {
    const levels = (text: string) => [...shown(text).querySelectorAll('h3, h4, h5, h6')].map((one) => one.tagName);
    expect(levels('# a\n\n## b\n\n#### c\n\n# d')).toEqual(['H3', 'H4', 'H5', 'H3']);
    expect(levels('### a\n\ntext\n\n###### b')).toEqual(['H3', 'H4']);
    expect(shown('> # a').querySelector('strong')?.textContent).toBe('a');
  });

  it('blocks that did not change while more of the text comes', () => {
    const before = blocksOf('# a\n\nb\n\n- c')?.map((block) => block.key) ?? [];
    const after = blocksOf('# a\n\nb\n\n- c\n- d\n\ne')?.map((block) => block.key) ?? [];
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after).toHaveLength(4);
  });
});
