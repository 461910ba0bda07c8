"""Every public function that takes labels, losses, names or paths, called with every kind of label."""
