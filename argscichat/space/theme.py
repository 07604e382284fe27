"""How the page looks: a theme with fonts of the reader's own system, and one style sheet."""

from pathlib import Path

import gradio as gr

STYLE_SHEET = Path(__file__).parent / "theme.css"

_FONT = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "DejaVu Sans", "sans-serif")
_MONOSPACE = ("ui-monospace", "Consolas", "Menlo", "DejaVu Sans Mono", "monospace")


def page_theme() -> gr.themes.Base:
    """The theme; it asks no server for a font."""
    return gr.themes.Base(
        primary_hue=gr.themes.colors.blue,
        neutral_hue=gr.themes.colors.slate,
        font=_FONT,
        font_mono=_MONOSPACE,
        radius_size=gr.themes.sizes.radius_md,
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        block_background_fill="white",
        block_background_fill_dark="*neutral_900",
        block_border_width="1px",
        block_label_text_weight="600",
        block_title_text_weight="600",
        button_primary_background_fill="#0072B2",
        button_primary_background_fill_hover="#005A8C",
        button_primary_background_fill_dark="#0072B2",
        button_primary_background_fill_hover_dark="#005A8C",
        button_primary_text_color="white",
    )
